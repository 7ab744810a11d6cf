// A cross-braced truss of two bays, 4 x 2, tilted by 10 degrees, its lowest corner at (0, 1):
// to be dropped on the floor y = 0, corner first. Each member is one two-node line.
//
//   4-------5-------6
//   | \   / | \   / |       chords: 1-2, 2-3, 4-5, 5-6
//   |   x   |   x   |       webs:   1-4, 2-5, 3-6 and the diagonals (which do not touch where they cross)
//   | /   \ | /   \ |       truss:  all members
//   1-------2-------3       corner: 1
//
// gmsh truss.geo -1 -format msh41 -o truss.msh

bay = 2;
height = 2;
tilt = 10 * Pi / 180;
c = Cos(tilt);
s = Sin(tilt);

For row In {0:1}
  For column In {0:2}
    x = column * bay;
    y = row * height;
    Point(1 + column + 3 * row) = {c * x - s * y, 1 + s * x + c * y, 0};
  EndFor
EndFor

Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {4, 5};
Line(4) = {5, 6};
Line(5) = {1, 4};
Line(6) = {2, 5};
Line(7) = {3, 6};
Line(8) = {1, 5};
Line(9) = {2, 4};
Line(10) = {2, 6};
Line(11) = {3, 5};
Transfinite Curve {1:11} = 2;

Physical Point("corner") = {1};
Physical Curve("chords") = {1:4};
Physical Curve("webs") = {5:11};
Physical Curve("truss") = {1:11};
