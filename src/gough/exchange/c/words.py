"""What the C files say of functions, inputs and outputs: meaning and unit."""

from __future__ import annotations

SUMMARIES = {
    "close_joints": "Joint coordinates of chain legs by a Newton step from state.chains. Begin with "
    "those of home, or of the last state, and copy answer.chains into state.chains until healthy: all "
    "other functions need them so near.",
    "inverse_kinematics": "What each leg does while the platform moves.",
    "jacobian": "J: qd = J (velocity, angular_velocity). Depends on the pose alone.",
    "forward_kinematics": "The pose after one of Newton's steps towards the one in which the "
    "legs have the coordinates q, and how far from these they were before it.",
    "inverse_dynamics": "Actuator forces and powers that a motion takes, without friction; of "
    "more actuators than freedoms those of least norm.",
    "reactions": "Forces and moments in the joints, without friction.",
    "direct_dynamics": "Acceleration of the platform under actuator forces, without friction. The "
    "state's accelerations do not count.",
    "mass_matrix": "M of the whole robot, legs and drives included: M (linear, angular "
    "acceleration) + b = J^T forces + wrench. Depends on the pose alone.",
    "bias": "b of the same equation: Coriolis, centrifugal and gravity terms. The state's "
    "accelerations do not count.",
    "energy": "Energy of the whole robot. The state's accelerations do not count.",
}
FLEXIBLE_SUMMARIES = {
    "jacobian": "J: qd = jacobian (velocity, angular_velocity) + elastic elastic_velocity. Depends on "
    "pose and elastic coordinates alone.",
    "inverse_dynamics": "Actuator forces and powers that a motion takes and the elastic acceleration "
    "that goes with it, without friction. The state's elastic "
    "acceleration does not count.",
    "reactions": "Forces and moments in the joints, without friction. The state's elastic acceleration "
    "does not count.",
}
"""Of flexible robots."""
PRODUCT = "M (along, elastic_along) of the whole robot, without the matrix itself."
LOADED = (
    "The same with the joints rubbing as they do under given loads; also gives the loads caused."
)
NOTES = {
    "position": "m: origin of the platform frame, world axes.",
    "rotation": "From platform to world axes; columns are the platform's axes.",
    "velocity": "m/s: of the platform frame's origin, world axes.",
    "angular_velocity": "rad/s: of the platform, world axes.",
    "acceleration": "m/s^2: of the platform frame's origin, world axes.",
    "angular_acceleration": "rad/s^2: of the platform, world axes.",
    "wrench": "force (N) and moment (N m) on the platform at its frame's origin, world axes; NULL: "
    "none.",
    "loads": "load magnitudes, N; 0 leaves viscous friction and screw drag.",
    "power": "W: force times qd.",
    "chains": "rad, m: joint coordinates of chain legs, 0 at home (of spherical joints a unit "
    "quaternion), joint by joint, in each the legs.",
    "close_joints_answer.residual": "Length of the step, rad or length scales.",
    "forward_kinematics_step_answer.residual": "m, of actuators of chains that turn rad: "
    "largest error of q before the step, of a crank as far as its tip goes.",
    "forward_kinematics_answer.residual": "m, of actuators of chains that turn rad: largest "
    "error of q, of a crank as far as its tip goes.",
    "length": "Length of the step, rad or length scales; it was cut to at most 0.5.",
    "side": "1 or -1: another one beyond a singular pose.",
    "size": "m: length of the longest leg, beside which the residual is judged.",
    "platform_moment": "N m: moment of the leg on the platform about its last joint, world axes.",
    "joint_force": "N: force of each joint of a chain on the body it carries; NAN of other legs.",
    "joint_moment": "N m: moment of the same about the origin of that body's frame.",
    "constraint": "N, N m: wrench on the platform that keeps it to its mobility.",
    "certainty": "1 where the reactions of a leg are the only possible ones, else less.",
    "margin": "Healthy where > 0: least distance of a health measure from its limit.",
    "joint_rates": "m/s, rad/s.",
    "joint_accelerations": "m/s^2, rad/s^2.",
    "direction": "Unit vectors from universal to spherical joint, world axes.",
    "link_angular_velocity": "rad/s: world axes.",
    "link_angular_acceleration": "rad/s^2: world axes.",
    "linear": "m/s^2: acceleration of the platform frame's origin, world axes.",
    "angular": "rad/s^2: angular acceleration, world axes.",
    "mass_matrix": "kg, kg m, kg m^2.",
    "bias": "N, N m.",
    "kinetic": "J.",
    "potential": "J: from the world's origin.",
    "spherical": "N: force of the leg on the platform, world axes.",
    "universal_moment": "N m: couple of the universal joint on the body it carries, about the joint's "
    "centre, less the joint's friction couple.",
    "guide": "N: force of the rail on the slider, normal to the rail.",
    "guide_moment": "N m: couple of the rail on the slider about the universal joint.",
    "sliding_force": "N: force of the cylinder on the rod, actuator force included.",
    "sliding_moment": "N m: couple of the cylinder on the rod about the tip.",
    "caused": "N: the load magnitudes that these loads cause, rows as in the struct of loads.",
    "vectors": "N: F_A (3 rows) and F_B (3) in universal and spherical joint, world axes, and the "
    "guide's two normal forces u.N and v.N; one column per leg.",
    "elastic": "Accelerations of the elastic coordinates.",
    "state.elastic": "Elastic coordinates, one per mode of the platform.",
    "elastic_velocity": "Their rates.",
    "elastic_acceleration": "Accelerations of the elastic coordinates.",
    "jacobian_answer.elastic": "One row per actuator: by the elastic velocities.",
    "bias_answer.elastic": "Modal forces, stiffness and damping included.",
    "mass_matrix_times_answer.elastic": "The modes' part of the same.",
    "along": "a vector such as velocity and angular velocity, world axes.",
    "elastic_along": "a vector such as the elastic velocities.",
    "momentum": "M times the vector: N s, N m s if that is a velocity.",
    "mass_matrix()": "M of the whole robot, legs and drives included: M (linear, angular, elastic "
    "acceleration) + b = J^T forces + wrench, in the modes' rows its modal force. Depends on pose and "
    "elastic coordinates alone. Calls mass_matrix_times for each column.",
    "residual": "Largest disagreement of the loads over the largest load.",
    "loads.universal": "|F_A|: size of the force in the universal joint.",
    "loads.spherical": "|F_B|: size of the force in the spherical joint.",
    "loads.guide": "|u.N| + |v.N|: forces on the guide along its two normals (no meaning without one).",
}
"""Of what all kinds of legs have alike; `LegKind` has its own."""
