/* Joints of chain legs, and what holds the platform; see joints.h. */
#include "joints.h"

#include <math.h>
#include <string.h>

#include "model.h"
#include "rotation.h"

#define STRIDE 0.15 /* rad, and as a share of the legs' size */
#define MOST_STRIDES 400
#define MOST_STEPS 40
#define FINEST (1.0 / 64) /* part of a stride below which the way is lost */
#define LONGEST 0.4       /* rad, and as a share of the legs' size: of a step of the joints */
#define SMALL 0.01
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

#if CHAINS
static double farthest(const double *a, const double *b)
{
    double most = 0;
    int i;
    for (i = 0; i < CHAINS; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* Joints at a pose from near ones by two steps, of which the second must be the shorter one by far. */
static int followed(const double *own, gough_robot_state *state)
{
    double start[CHAINS], middle[CHAINS], off, first, second;
    memcpy(start, state->chains, sizeof start);
    (void)one_step(own, state, 0, &off);
    memcpy(middle, state->chains, sizeof middle);
    (void)one_step(own, state, 0, &off);
    first = farthest(middle, start);
    second = farthest(state->chains, middle);
    return first <= LONGEST * fmax(1, LENGTH) && second <= fmax(0.5 * first, SMALL);
}
#endif

int settled_from_home(const double *own, gough_robot_state *state)
{
    double off = 0;
    int i;
#if CHAINS
    gough_robot_state on_the_way = *state;
    double wanted[4], home[4] = {1, 0, 0, 0}, share[4], from[3][3], length = 0, turn = 0, strides;
    double s = 0, step, longest;
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
    memcpy(on_the_way.chains, home_joints, sizeof on_the_way.chains);
    longest = step = 1 / fmax(strides, 1);
    while (s < 1) {
        gough_robot_state next = on_the_way;
        double aim = s + step > 1 - FINEST * longest ? 1 : s + step;
        for (i = 0; i < 3; i++)
            next.position[i] = home_position[i] + aim * (state->position[i] - home_position[i]);
        for (i = 0; i < 4; i++)
            share[i] = home[i] + aim * (wanted[i] - home[i]);
        rotation_of(share, next.rotation);
        if (followed(own, &next)) {
            on_the_way = next;
            s = aim;
            step = fmin(2 * step, longest);
        } else if ((step /= 2) < FINEST * longest) {
            if (1 - s > 2 * FINEST * longest)
                return NO_START; /* stretched or folded on the way */
            break;
        }
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
