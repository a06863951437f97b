/* Rotations while they are integrated; see rotation.h. */
#include "rotation.h"

#include <math.h>

int unit_quaternion(double q[4])
{
    double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    int i;
    if (!(size > 0 && size <= 1e150))
        return 0;
    for (i = 0; i < 4; i++)
        q[i] /= size;
    return 1;
}

void rotation_of(const double q[4], double r[3][3])
{
    double w = q[0], x = q[1], y = q[2], z = q[3], s = 2 / (w * w + x * x + y * y + z * z);
    r[0][0] = 1 - s * (y * y + z * z);
    r[0][1] = s * (x * y - w * z);
    r[0][2] = s * (x * z + w * y);
    r[1][0] = s * (x * y + w * z);
    r[1][1] = 1 - s * (x * x + z * z);
    r[1][2] = s * (y * z - w * x);
    r[2][0] = s * (x * z - w * y);
    r[2][1] = s * (y * z + w * x);
    r[2][2] = 1 - s * (x * x + y * y);
}

void quaternion_of(double r[3][3], const double near[4], double q[4])
{
    /* four times the squares of w, x, y, z; the largest is not near 0 */
    double square[4], along = 0;
    int i, largest = 0;
    square[0] = 1 + r[0][0] + r[1][1] + r[2][2];
    square[1] = 1 + r[0][0] - r[1][1] - r[2][2];
    square[2] = 1 - r[0][0] + r[1][1] - r[2][2];
    square[3] = 1 - r[0][0] - r[1][1] + r[2][2];
    for (i = 1; i < 4; i++)
        if (square[i] > square[largest])
            largest = i;
    switch (largest) {
    case 0:
        q[0] = square[0];
        q[1] = r[2][1] - r[1][2];
        q[2] = r[0][2] - r[2][0];
        q[3] = r[1][0] - r[0][1];
        break;
    case 1:
        q[0] = r[2][1] - r[1][2];
        q[1] = square[1];
        q[2] = r[0][1] + r[1][0];
        q[3] = r[0][2] + r[2][0];
        break;
    case 2:
        q[0] = r[0][2] - r[2][0];
        q[1] = r[0][1] + r[1][0];
        q[2] = square[2];
        q[3] = r[1][2] + r[2][1];
        break;
    default:
        q[0] = r[1][0] - r[0][1];
        q[1] = r[0][2] + r[2][0];
        q[2] = r[1][2] + r[2][1];
        q[3] = square[3];
    }
    (void)unit_quaternion(q);
    for (i = 0; i < 4; i++)
        along += q[i] * near[i];
    for (i = 0; along < 0 && i < 4; i++)
        q[i] = -q[i];
}

void turned(const double g[3], double r[3][3], double out[3][3])
{
    double factor = 2 / (1 + g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    int k;
    for (k = 0; k < 3; k++) {
        double x = r[0][k], y = r[1][k], z = r[2][k];
        double a = g[1] * z - g[2] * y, b = g[2] * x - g[0] * z, c = g[0] * y - g[1] * x;
        out[0][k] = x + factor * (a + g[1] * c - g[2] * b);
        out[1][k] = y + factor * (b + g[2] * a - g[0] * c);
        out[2][k] = z + factor * (c + g[0] * b - g[1] * a);
    }
}

void orthonormal(double r[3][3])
{
    double square[3][3], out[3][3];
    int i, j;
    for (i = 0; i < 3; i++)
        for (j = 0; j < 3; j++)
            square[i][j] = r[0][i] * r[0][j] + r[1][i] * r[1][j] + r[2][i] * r[2][j];
    for (i = 0; i < 3; i++)
        for (j = 0; j < 3; j++)
            out[i][j] = 0.5 * (3 * r[i][j]
                - r[i][0] * square[0][j] - r[i][1] * square[1][j] - r[i][2] * square[2][j]);
    for (i = 0; i < 3; i++)
        for (j = 0; j < 3; j++)
            r[i][j] = out[i][j];
}
