/* Joints of chain legs, and what holds the platform; see joints.h. */
#include "joints.h"

#include <math.h>
#include <string.h>

#include "model.h"
#include "rotation.h"

#define STRIDE 0.15 /* rad, and as a share of the legs' size */
#define MOST_STRIDES 400
#define MOST_STEPS 40
#define CLOSED 1e-11 /* rad, length scales */

#if SETTLES
static int one_step(const double *own, gough_robot_state *state, int pose, double *off)
{
    gough_robot_settle_answer answer;
    int status = gough_robot_settle(own, state, &answer);
#if CHAINS
    memcpy(state->chains, answer.chains, sizeof state->chains);
#endif
    *off = answer.off;
    if (pose) {
        memcpy(state->position, answer.position, sizeof state->position);
        memcpy(state->rotation, answer.rotation, sizeof state->rotation);
        memcpy(state->velocity, answer.velocity, sizeof state->velocity);
        memcpy(state->angular_velocity, answer.angular_velocity, sizeof state->angular_velocity);
    }
    return status == GOUGH_HEALTHY && answer.off == answer.off ? GOOD : NO_ANSWER;
}

int settled(const double *own, gough_robot_state *state)
{
    double off;
    return one_step(own, state, 1, &off);
}

int settled_from_home(const double *own, gough_robot_state *state)
{
    double off = 0;
    int i;
#if CHAINS
    gough_robot_state on_the_way = *state;
    double wanted[4], home[4] = {1, 0, 0, 0}, share[4], from[3][3], length = 0, turn = 0, strides;
    int k, count;
    memcpy(from, home_rotation, sizeof from);
    quaternion_of(from, home, home);
    quaternion_of(state->rotation, home, wanted);
    for (i = 0; i < 3; i++)
        length += (state->position[i] - home_position[i]) * (state->position[i] - home_position[i]);
    for (i = 0; i < 4; i++)
        turn += (wanted[i] - home[i]) * (wanted[i] - home[i]);
    length = sqrt(length) / LENGTH;
    turn = 4 * asin(fmin(0.5 * sqrt(turn), 1));
    strides = ceil(fmax(length, turn) / STRIDE);
    if (!(strides <= MOST_STRIDES))
        strides = MOST_STRIDES;
    count = (int)strides;
    memcpy(on_the_way.chains, home_joints, sizeof on_the_way.chains);
    for (k = 1; k <= count; k++) {
        double s = k / strides;
        for (i = 0; i < 3; i++)
            on_the_way.position[i] = home_position[i] + s * (state->position[i] - home_position[i]);
        for (i = 0; i < 4; i++)
            share[i] = home[i] + s * (wanted[i] - home[i]);
        rotation_of(share, on_the_way.rotation);
        (void)one_step(own, &on_the_way, 0, &off);
        (void)one_step(own, &on_the_way, 0, &off);
    }
    memcpy(state->chains, on_the_way.chains, sizeof state->chains);
#endif
    for (i = 0; i < MOST_STEPS; i++) {
        int status = one_step(own, state, 1, &off);
        if (status == GOOD && off <= CLOSED)
            return GOOD;
    }
    return NO_START;
}
#endif
