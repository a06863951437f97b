"""The robot under the tools: batches, friction loop, forward kinematics, derivatives, limits."""
