/* written by gough export washout; do not edit. The same for every robot. */
#include "gough_washout.h"

#include <math.h>

#define TERMS 14 /* of power series, for angles below 2 rad */

static void cross(const gough_real a[3], const gough_real b[3], gough_real out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static gough_real dot(const gough_real a[3], const gough_real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void times(gough_real a[3][3], gough_real b[3][3], gough_real out[3][3])
{
    int i, j;
    for (i = 0; i < 3; i++)
        for (j = 0; j < 3; j++)
            out[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
}

/* With phi = |theta|: a = sin(phi)/phi, b = (1 - cos(phi))/phi^2, c = (phi - sin(phi))/phi^3,
 * (a - 2b)/phi^2, (b - 3c)/phi^2. */
static void coefficients(gough_real squared, gough_real out[5])
{
    int i, k;
    gough_real power = 1, under = 1; /* (-phi^2)^k, (2k)! */
    if (squared >= 4) {
        gough_real phi = (gough_real)sqrt(squared);
        out[0] = (gough_real)sin(phi) / phi;
        out[1] = (1 - (gough_real)cos(phi)) / squared;
        out[2] = (1 - out[0]) / squared;
        out[3] = (out[0] - 2 * out[1]) / squared;
        out[4] = (out[1] - 3 * out[2]) / squared;
        return;
    }
    for (i = 0; i < 5; i++)
        out[i] = 0;
    for (k = 0; k < TERMS; k++) {
        gough_real odd = under * (gough_real)(2 * k + 1), even = odd * (gough_real)(2 * k + 2);
        gough_real above = even * (gough_real)(2 * k + 3);
        out[0] += power / odd;
        out[1] += power / even;
        out[2] += power / above;
        /* the same one power of -phi^2 later, which the division takes away */
        odd = above;
        even = odd * (gough_real)(2 * k + 4);
        above = even * (gough_real)(2 * k + 5);
        out[3] -= power * (1 / odd - 2 / even);
        out[4] -= power * (1 / even - 3 / above);
        under *= (gough_real)((2 * k + 1) * (2 * k + 2));
        power *= -squared;
    }
}

/* R = cos(phi) I + a [theta]x + b theta theta^T. */
static void rotation_of(const gough_real theta[3], const gough_real k[5], gough_real out[3][3])
{
    int i, j;
    gough_real level = 1 - k[1] * dot(theta, theta);
    for (i = 0; i < 3; i++)
        for (j = 0; j < 3; j++)
            out[i][j] = k[1] * theta[i] * theta[j] + (i == j ? level : 0);
    for (i = 0; i < 3; i++) {
        int one = (i + 1) % 3, two = (i + 2) % 3;
        out[two][one] += k[0] * theta[i];
        out[one][two] -= k[0] * theta[i];
    }
}

/* Value, rate and second derivative are z', z'' and z'''. */
static void advance(const gough_washout_filter *filter, gough_real x[3], gough_real last,
    gough_real now, gough_real out[3])
{
    gough_real old[3];
    int i;
    for (i = 0; i < 3; i++)
        old[i] = x[i];
    for (i = 0; i < 3; i++)
        x[i] = dot(filter->next[i], old) + filter->before[i] * last + filter->now[i] * now;
    out[0] = x[1];
    out[1] = x[2];
    out[2] = (now - dot(filter->lag, x)) / filter->lag[3];
}

void gough_washout_begin(gough_washout_memory *memory)
{
    int i, j;
    for (i = 0; i < 3; i++) {
        memory->wished[i] = memory->rates[i] = memory->tilt[i] = memory->tilting[i] = 0;
        for (j = 0; j < 3; j++) {
            memory->place[i][j] = memory->turn[i][j] = 0;
            memory->attitude[i][j] = i == j;
        }
    }
    memory->started = 0;
}

void gough_washout_force(const gough_washout *numbers, gough_washout_memory *memory,
    const gough_real acceleration[3], const gough_real rates[3], gough_real force[3])
{
    const gough_real *g = numbers->gravity;
    int i, j;
    if (memory->started) {
        gough_real way[3], k[5], step[3][3], turned[3][3], square[3][3];
        for (i = 0; i < 3; i++)
            way[i] = (rates[i] + memory->rates[i]) / 2 * numbers->step;
        coefficients(dot(way, way), k);
        rotation_of(way, k, step);
        times(memory->attitude, step, turned);
        /* back to a rotation, which rounding leaves: R (3 I - R^T R)/2 */
        for (i = 0; i < 3; i++)
            for (j = 0; j < 3; j++)
                square[i][j] = (i == j ? 3 : 0) - turned[0][i] * turned[0][j]
                    - turned[1][i] * turned[1][j] - turned[2][i] * turned[2][j];
        times(turned, square, memory->attitude);
        for (i = 0; i < 3; i++)
            for (j = 0; j < 3; j++)
                memory->attitude[i][j] /= 2;
    }
    for (i = 0; i < 3; i++) {
        gough_real fall = g[0] * memory->attitude[0][i] + g[1] * memory->attitude[1][i]
            + g[2] * memory->attitude[2][i];
        force[i] = acceleration[i] - fall + g[i];
    }
}

void gough_washout_next(const gough_washout *numbers, gough_washout_memory *memory,
    const gough_real force[3], const gough_real rates[3], gough_washout_answer *answer)
{
    const gough_real step = numbers->step, *g = numbers->gravity;
    const gough_real drag = numbers->tilt_drag, pull = numbers->tilt_pull;
    const gough_real most = numbers->tilt_rate;
    gough_real wish[3], next[3], angle[3], felt[3], away[3], k[5], attitude[3][3], out[3], size;
    int i;
    cross(g, force, wish);
    for (i = 0; i < 3; i++) {
        /* the tilt: its end of the step decides, ... */
        gough_real rate = memory->tilting[i], push;
        wish[i] *= numbers->own[3 + i] / dot(g, g);
        push = pull * (wish[i] - memory->tilt[i] - step * rate) - drag * rate;
        next[i] = rate + step * push / (1 + step * drag + step * step * pull);
    }
    size = (gough_real)sqrt(dot(next, next));
    for (i = 0; i < 3; i++) {
        /* ... and its rate is cut about whatever axis it turns */
        gough_real rate = memory->tilting[i], turns = numbers->own[3 + i];
        if (size > most)
            next[i] *= most / size;
        memory->tilt[i] += step * (rate + next[i]) / 2;
        memory->tilting[i] = next[i];
        advance(&numbers->turn, memory->turn[i], turns * memory->rates[i], turns * rates[i], out);
        angle[i] = answer->value[3 + i] = out[0] + memory->tilt[i];
        answer->rate[3 + i] = out[1] + next[i];
        answer->second[3 + i] = out[2] + (next[i] - rate) / step;
    }
    coefficients(dot(angle, angle), k);
    rotation_of(angle, k, attitude);
    for (i = 0; i < 3; i++)
        away[i] = force[i] - g[i];
    for (i = 0; i < 3; i++) {
        felt[i] = dot(attitude[i], away) + g[i];
        advance(&numbers->place, memory->place[i], memory->wished[i], felt[i], out);
        answer->value[i] = out[0];
        answer->rate[i] = out[1];
        answer->second[i] = out[2];
        memory->wished[i] = felt[i];
        memory->rates[i] = rates[i];
    }
    for (i = 0; i < 6; i++) {
        gough_real share = numbers->gain * numbers->own[i];
        answer->value[i] *= share;
        answer->rate[i] *= share;
        answer->second[i] *= share;
    }
    memory->started = 1;
}

void gough_washout_place(const gough_washout *numbers, const gough_washout_answer *answer,
    gough_washout_pose *pose)
{
    const gough_real *v = answer->value + 3, *vd = answer->rate + 3, *vdd = answer->second + 3;
    gough_real k[5], turned[3][3], home[3][3], across[3], bent[3], p, s;
    int i, j;
    coefficients(dot(v, v), k);
    rotation_of(v, k, turned);
    for (i = 0; i < 3; i++)
        for (j = 0; j < 3; j++)
            home[i][j] = numbers->home_rotation[i][j];
    times(turned, home, pose->rotation);
    cross(v, vd, across);
    cross(v, vdd, bent);
    p = dot(v, vd);
    s = dot(v, vdd) + dot(vd, vd);
    for (i = 0; i < 3; i++) {
        pose->position[i] = numbers->home_position[i] + answer->value[i];
        pose->velocity[i] = answer->rate[i];
        pose->acceleration[i] = answer->second[i];
        pose->angular_velocity[i] = k[0] * vd[i] + k[1] * across[i] + k[2] * p * v[i];
        pose->angular_acceleration[i] = k[0] * vdd[i] + k[1] * bent[i] + k[2] * s * v[i]
            + p * ((2 * k[2] - k[1]) * vd[i] + k[3] * across[i] + k[4] * p * v[i]);
    }
}
