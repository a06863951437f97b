/* Rotations: unit quaternions (w, x, y, z) and matrices, and Rodrigues' vector of a turn. */
#ifndef ROTATION_H
#define ROTATION_H

/* Makes a quaternion unit; 0 where it has no direction. */
int unit_quaternion(double q[4]);
/* From a quaternion of any length. */
void rotation_of(const double q[4], double r[3][3]);
/* The unit quaternion of a rotation that is nearest to another. */
void quaternion_of(double r[3][3], const double near[4], double q[4]);
/* C(g) R with C(g) = 1 + 2 (g^ + g^ g^)/(1 + g.g): a turn by phi about n, g = tan(phi/2) n, world axes. */
void turned(const double g[3], double r[3][3], double out[3][3]);
/* The nearest rotation up to the square of the error: R (3 - R^T R)/2. */
void orthonormal(double r[3][3]);

#endif
