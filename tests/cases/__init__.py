"""What several tests share: kinds of legs, batch shapes, robots, plates, ways of asking.

Unlike `oracles` these use the library; nothing here asserts anything by itself.
"""
