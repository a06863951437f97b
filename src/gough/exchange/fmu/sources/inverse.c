/* The inverse model: motion in, actuator forces out. It has no states; the joints of chain legs are
 * continued from where they were last. */
#include <math.h>
#include <string.h>

#include "joints.h"
#include "model.h"
#include "gough_robot.h"
#include "rotation.h"

void model_reset(model *m)
{
    memset(m, 0, sizeof *m);
    memcpy(m->v, start_values, sizeof m->v);
    m->tolerance = TOLERANCE;
}

int model_begin(model *m)
{
    if (m->begun)
        return GOOD;
    gough_robot_numbers(m->v, m->own);
#if CHAINS
    memcpy(m->joints, home_joints, sizeof home_joints);
#endif
    m->begun = 1;
    m->fresh = 0;
    return GOOD;
}

int model_update(model *m)
{
    gough_robot_state state;
    dynamics_answer answer;
    double *v = m->v;
    (void)model_begin(m);
    if (m->fresh)
        return GOOD;
    memset(&state, 0, sizeof state);
    memcpy(state.position, v + POSITION, sizeof state.position);
    rotation_of(v + QUATERNION, state.rotation);
    memcpy(state.velocity, v + VELOCITY, sizeof state.velocity);
    memcpy(state.angular_velocity, v + ANGULAR_VELOCITY, sizeof state.angular_velocity);
    memcpy(state.acceleration, v + ACCELERATION, sizeof state.acceleration);
    memcpy(state.angular_acceleration, v + ANGULAR_ACCELERATION, sizeof state.angular_acceleration);
#if MODES
    memcpy(state.elastic, v + ELASTIC, sizeof state.elastic);
    memcpy(state.elastic_velocity, v + ELASTIC_VELOCITY, sizeof state.elastic_velocity);
#endif
#if CHAINS
    {
        gough_robot_settle_answer found;
        int i;
        memcpy(state.chains, m->joints, sizeof state.chains);
        for (i = 0; i < 3; i++) {
            (void)gough_robot_settle(m->own, &state, &found);
            memcpy(state.chains, found.chains, sizeof state.chains);
        }
        if (DYNAMICS(m->own, &state, v + WRENCH, &answer) != GOUGH_HEALTHY) {
            gough_robot_state again = state; /* too far from the last pose: along the way from home */
            if (settled_from_home(m->own, &again) != GOOD)
                return NO_ANSWER;
            memcpy(state.chains, again.chains, sizeof state.chains);
        }
    }
#endif
    if (DYNAMICS(m->own, &state, v + WRENCH, &answer) != GOUGH_HEALTHY)
        return NO_ANSWER;
#if CHAINS
    memcpy(m->joints, state.chains, sizeof state.chains);
#endif
    gough_robot_tell(&answer, v);
    m->fresh = 1;
    return GOOD;
}

int model_advance(model *m, double until)
{
    m->v[TIME] = until;
    return model_update(m);
}

const char *model_trouble(int status)
{
    (void)status;
    return "the robot has no answer: a motion that its platform cannot make, a leg out of reach or "
           "singular, a singular pose, friction without loads that agree with it, or a value that is "
           "not finite";
}
