/* Joints of chain legs, and what holds the platform: where a state has to be for the robot. */
#ifndef JOINTS_H
#define JOINTS_H

#include "gough_robot.h"

#if SETTLES
/* The nearest state that the robot can be in, by one step; NO_ANSWER where it has none. */
int settled(const double *own, gough_robot_state *state);
/* The same by as many steps as it takes, joints of chain legs continued from home along a straight line. */
int settled_from_home(const double *own, gough_robot_state *state);
#endif

#endif
