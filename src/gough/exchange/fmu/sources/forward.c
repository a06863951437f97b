/* The forward model: actuator forces and wrench in, motion out. States are the pose, with a quaternion,
 * the twist, the joints of chain legs and the elastic coordinates. Where legs or mobility hold the
 * platform, rates and outputs are those of the nearest state that it can be in. */
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

static void state_of(const double *v, gough_robot_state *state)
{
    memset(state, 0, sizeof *state);
    memcpy(state->position, v + POSITION, sizeof state->position);
    rotation_of(v + QUATERNION, state->rotation);
    memcpy(state->velocity, v + VELOCITY, sizeof state->velocity);
    memcpy(state->angular_velocity, v + ANGULAR_VELOCITY, sizeof state->angular_velocity);
#if CHAINS
    memcpy(state->chains, v + JOINTS, sizeof state->chains);
#endif
#if MODES
    memcpy(state->elastic, v + ELASTIC, sizeof state->elastic);
    memcpy(state->elastic_velocity, v + ELASTIC_VELOCITY, sizeof state->elastic_velocity);
#endif
}

static void keep(gough_robot_state *state, double *v)
{
    double before[4];
    memcpy(before, v + QUATERNION, sizeof before);
    memcpy(v + POSITION, state->position, sizeof state->position);
    quaternion_of(state->rotation, before, v + QUATERNION);
    memcpy(v + VELOCITY, state->velocity, sizeof state->velocity);
    memcpy(v + ANGULAR_VELOCITY, state->angular_velocity, sizeof state->angular_velocity);
#if CHAINS
    memcpy(v + JOINTS, state->chains, sizeof state->chains);
#endif
#if MODES
    memcpy(v + ELASTIC, state->elastic, sizeof state->elastic);
    memcpy(v + ELASTIC_VELOCITY, state->elastic_velocity, sizeof state->elastic_velocity);
#endif
}

int model_begin(model *m)
{
    if (m->begun)
        return GOOD;
    gough_robot_numbers(m->v, m->own);
    if (!unit_quaternion(m->v + QUATERNION))
        return NO_START;
#if SETTLES
    {
        gough_robot_state state;
        int status;
        state_of(m->v, &state);
        status = settled_from_home(m->own, &state);
        if (status != GOOD)
            return status;
        keep(&state, m->v);
    }
#endif
    m->begun = 1;
    m->fresh = 0;
    return GOOD;
}

int model_update(model *m)
{
    gough_robot_state state;
    dynamics_answer answer;
    double *v = m->v, *rates = v + RATES;
    const double *q = v + QUATERNION, *w = state.angular_velocity;
    int status = model_begin(m);
    if (status != GOOD)
        return status;
    if (m->fresh)
        return GOOD;
    state_of(v, &state);
#if SETTLES
    if (settled(m->own, &state) != GOOD)
        return NO_ANSWER;
#endif
    if (DYNAMICS(m->own, &state, v + FORCES, v + WRENCH, &answer) != GOUGH_HEALTHY)
        return NO_ANSWER;
    memcpy(rates, state.velocity, sizeof state.velocity);
    /* 2 dq/dt = (0, w) q, w in world axes */
    rates[3] = -0.5 * (w[0] * q[1] + w[1] * q[2] + w[2] * q[3]);
    rates[4] = 0.5 * (w[0] * q[0] + w[1] * q[3] - w[2] * q[2]);
    rates[5] = 0.5 * (w[1] * q[0] + w[2] * q[1] - w[0] * q[3]);
    rates[6] = 0.5 * (w[2] * q[0] + w[0] * q[2] - w[1] * q[1]);
    memcpy(rates + 7, answer.linear, sizeof answer.linear);
    memcpy(rates + 10, answer.angular, sizeof answer.angular);
#if CHAINS
    memcpy(rates + 13, answer.chain_rates, sizeof answer.chain_rates);
#endif
#if MODES
    memcpy(rates + 13 + CHAINS, state.elastic_velocity, sizeof state.elastic_velocity);
    memcpy(rates + 13 + CHAINS + MODES, answer.elastic, sizeof answer.elastic);
#endif
    memcpy(v + ROTATION, state.rotation, sizeof state.rotation);
    gough_robot_tell(&answer, v);
    m->fresh = 1;
    return GOOD;
}

/* Integration: y = (p, g, v, w, joints, elastic, their rates), where the rotation is C(g) R with R that
 * at the beginning of a step. It is a rotation to rounding always, and g = 0 where a step begins. */
#define SIZE (12 + CHAINS + 2 * MODES)
#define STAGES 7

static int rates_of(const model *m, const gough_robot_state *start, const double *y, double *rate)
{
    gough_robot_state state = *start;
    dynamics_answer answer;
    double from[3][3];
    const double *g = y + 3, *w = y + 9;
    double along = w[0] * g[0] + w[1] * g[1] + w[2] * g[2];
    memcpy(from, start->rotation, sizeof from);
    memcpy(state.position, y, 3 * sizeof *y);
    turned(g, from, state.rotation);
    memcpy(state.velocity, y + 6, 3 * sizeof *y);
    memcpy(state.angular_velocity, w, 3 * sizeof *y);
#if CHAINS
    memcpy(state.chains, y + 12, sizeof state.chains);
#endif
#if MODES
    memcpy(state.elastic, y + 12 + CHAINS, sizeof state.elastic);
    memcpy(state.elastic_velocity, y + 12 + CHAINS + MODES, sizeof state.elastic_velocity);
#endif
    if (DYNAMICS(m->own, &state, m->v + FORCES, m->v + WRENCH, &answer) != GOUGH_HEALTHY)
        return NO_ANSWER;
    memcpy(rate, y + 6, 3 * sizeof *y);
    /* 2 dg/dt = w + w x g + (w.g) g */
    rate[3] = 0.5 * (w[0] + w[1] * g[2] - w[2] * g[1] + along * g[0]);
    rate[4] = 0.5 * (w[1] + w[2] * g[0] - w[0] * g[2] + along * g[1]);
    rate[5] = 0.5 * (w[2] + w[0] * g[1] - w[1] * g[0] + along * g[2]);
    memcpy(rate + 6, answer.linear, sizeof answer.linear);
    memcpy(rate + 9, answer.angular, sizeof answer.angular);
#if CHAINS
    memcpy(rate + 12, answer.chain_rates, sizeof answer.chain_rates);
#endif
#if MODES
    memcpy(rate + 12 + CHAINS, state.elastic_velocity, sizeof state.elastic_velocity);
    memcpy(rate + 12 + CHAINS + MODES, answer.elastic, sizeof answer.elastic);
#endif
    return GOOD;
}

/* Dormand and Prince 1980, a method of order 5 with an estimate of order 4. */
static const double weights[STAGES][STAGES - 1] = {
    {0},
    {1. / 5},
    {3. / 40, 9. / 40},
    {44. / 45, -56. / 15, 32. / 9},
    {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
    {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
    {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
};
static const double errors[STAGES] = {
    71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40,
};

/* One step of length h to y; `error` is its estimate over what is allowed. */
static int try_step(
    const model *m, const gough_robot_state *start, const double *y0, double h, double *y, double *error)
{
    double k[STAGES][SIZE], sum = 0;
    int i, j, stage;
    for (stage = 0; stage < STAGES; stage++) {
        for (i = 0; i < SIZE; i++) {
            double change = 0;
            for (j = 0; j < stage; j++)
                change += weights[stage][j] * k[j][i];
            y[i] = y0[i] + h * change;
        }
        if (rates_of(m, start, y, k[stage]) != GOOD)
            return NO_ANSWER;
    }
    for (i = 0; i < SIZE; i++) {
        double wrong = 0, scale = fmax(fabs(y0[i]), fabs(y[i]));
        for (j = 0; j < STAGES; j++)
            wrong += errors[j] * k[j][i];
        if (i >= 3 && i < 6)
            scale = 1; /* a turn counts in rad */
        wrong *= h / (m->tolerance * (scale + 1e-3));
        sum += wrong * wrong;
    }
    *error = sqrt(sum / SIZE);
    return *error == *error ? GOOD : NO_ANSWER;
}

static void start_of(const gough_robot_state *state, double *y)
{
    memset(y, 0, SIZE * sizeof *y);
    memcpy(y, state->position, sizeof state->position);
    memcpy(y + 6, state->velocity, sizeof state->velocity);
    memcpy(y + 9, state->angular_velocity, sizeof state->angular_velocity);
#if CHAINS
    memcpy(y + 12, state->chains, sizeof state->chains);
#endif
#if MODES
    memcpy(y + 12 + CHAINS, state->elastic, sizeof state->elastic);
    memcpy(y + 12 + CHAINS + MODES, state->elastic_velocity, sizeof state->elastic_velocity);
#endif
}

static int accept(const double *own, const double *y, gough_robot_state *state)
{
    double from[3][3];
    memcpy(from, state->rotation, sizeof from);
    memcpy(state->position, y, sizeof state->position);
    turned(y + 3, from, state->rotation);
    orthonormal(state->rotation);
    memcpy(state->velocity, y + 6, sizeof state->velocity);
    memcpy(state->angular_velocity, y + 9, sizeof state->angular_velocity);
#if CHAINS
    memcpy(state->chains, y + 12, sizeof state->chains);
#endif
#if MODES
    memcpy(state->elastic, y + 12 + CHAINS, sizeof state->elastic);
    memcpy(state->elastic_velocity, y + 12 + CHAINS + MODES, sizeof state->elastic_velocity);
#endif
#if SETTLES
    return settled(own, state);
#else
    (void)own;
    return GOOD;
#endif
}

int model_advance(model *m, double until)
{
    gough_robot_state state;
    double y0[SIZE], y[SIZE], smallest = m->v[SMALLEST_STEP];
    int status = model_update(m);
    if (status != GOOD)
        return status;
    state_of(m->v, &state);
    if (!(m->step > 0))
        m->step = fmin(1e-4, until - m->v[TIME]);
    while (m->v[TIME] < until) {
        double left = until - m->v[TIME], h, error = 0, next;
        int last = m->step >= left * (1 - 1e-12), tried;
        h = last ? left : m->step >= 0.5 * left ? 0.5 * left : m->step;
        start_of(&state, y0);
        tried = try_step(m, &state, y0, h, y, &error);
        if (tried != GOOD) {
            m->step = h / 8;
            if (m->step < 1e-12)
                return NO_ANSWER; /* time and states are those of the last good step */
            continue;
        }
        if (error > 1 && h > smallest) {
            m->step = fmax(h * fmax(0.2, 0.9 * pow(error, -0.2)), smallest);
            continue;
        }
        if (accept(m->own, y, &state) != GOOD)
            return NO_ANSWER;
        m->v[TIME] = last ? until : m->v[TIME] + h;
        keep(&state, m->v);
        m->fresh = 0;
        next = h * fmin(5, 0.9 * pow(fmax(error, 1e-10), -0.2));
        if (next > m->step || !last) /* a step cut to end at `until` says nothing of shorter ones */
            m->step = fmax(next, smallest);
    }
    return model_update(m);
}

const char *model_trouble(int status)
{
    return status == NO_START
        ? "the robot cannot be in a state near the start values"
        : "the robot has no answer: a leg is out of reach or singular, the pose is singular, friction "
          "finds no loads that agree with it, or a value is not finite";
}
