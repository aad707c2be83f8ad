"""Topologies in the likeness of a measured one.

``law`` says what is kept of the original, by classes of routers; ``plan`` how many routers and
links of each class the likeness has, scaled by ``scaling``; ``linking`` links them, ``clustering``
exchanges links until triangles are as many; ``making`` puts ASes together, ``between`` links them,
``figures`` measures how near it came.
"""
