/* written by gough export washout; do not edit. The same for every robot.
 *
 * Classical washout with tilt coordination, a sample at a time: what sits in a vehicle is made felt on
 * a platform. L. D. Reid, M. A. Nahon, Flight Simulation Motion-Base Drive Algorithms, UTIAS 296, 1985.
 *
 * SI units and radians. Vehicle axes are the world's with the robot at home. Portable C99: no
 * allocation, nothing that outlives a call but what is in `gough_washout_memory`; every call takes the
 * same time.
 */
#ifndef GOUGH_WASHOUT_H
#define GOUGH_WASHOUT_H

#ifdef __cplusplus
extern "C" {
#endif

typedef double gough_real;

/* z''' = (u - lag[0] z - lag[1] z' - lag[2] z'')/lag[3], exact for u that is straight between samples:
 * x = (z, z', z'') goes to next x + before u(last sample) + now u(this sample). */
typedef struct gough_washout_filter {
    gough_real next[3][3], before[3], now[3], lag[4];
} gough_washout_filter;

/* What a washout was set to; gough writes one for a robot and a step. */
typedef struct gough_washout {
    gough_real step;               /* s between calls */
    gough_real gain;               /* of all displacements */
    gough_real gravity[3];         /* m/s^2, world axes */
    gough_real own[6];             /* 1 of x y z rx ry rz that the robot can make by itself, else 0 */
    gough_real home_position[3], home_rotation[3][3];
    gough_washout_filter place;    /* of acceleration */
    gough_washout_filter turn;     /* of turn rates */
    gough_real tilt_drag, tilt_pull; /* of tilting, 1/s and 1/s^2 */
    gough_real tilt_rate;          /* the fastest, about any axis, rad/s */
} gough_washout;

/* What it remembers from call to call; all zero where it begins. */
typedef struct gough_washout_memory {
    gough_real place[3][3], turn[3][3]; /* states of the filters, an axis each */
    gough_real wished[3], rates[3];     /* what came in last */
    gough_real tilt[3], tilting[3];     /* angle and rate */
    gough_real attitude[3][3];          /* of the vehicle */
    int started;
} gough_washout_memory;

/* Displacements from home: x, y, z (m) and a rotation vector in world axes (rad), rates, and their
 * second derivatives. */
typedef struct gough_washout_answer {
    gough_real value[6], rate[6], second[6];
} gough_washout_answer;

/* Where the platform is and how it moves; the fields are those of a robot's state in C. */
typedef struct gough_washout_pose {
    gough_real position[3], rotation[3][3];
    gough_real velocity[3], angular_velocity[3];
    gough_real acceleration[3], angular_acceleration[3];
} gough_washout_pose;

/* Begin level and at rest. */
void gough_washout_begin(gough_washout_memory *memory);

/* Specific force less that at rest (m/s^2, vehicle axes) from acceleration without gravity and turn
 * rates, whose integral is the vehicle's attitude. A simulation that knows its attitude should compute
 * a - R^T g + g itself: an integral of measured rates drifts. Call it before gough_washout_next. */
void gough_washout_force(const gough_washout *numbers, gough_washout_memory *memory,
    const gough_real acceleration[3], const gough_real rates[3], gough_real force[3]);

/* The next sample: force as above, turn rates (rad/s, vehicle axes). */
void gough_washout_next(const gough_washout *numbers, gough_washout_memory *memory,
    const gough_real force[3], const gough_real rates[3], gough_washout_answer *answer);

/* The pose with these displacements, for inverse kinematics. Of a robot with less than six freedoms it
 * holds where its other coordinates stay as at home. */
void gough_washout_place(const gough_washout *numbers, const gough_washout_answer *answer,
    gough_washout_pose *pose);

#ifdef __cplusplus
}
#endif

#endif
