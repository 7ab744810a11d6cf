// A square plate with a bar along its lower edge: special files for the reader of Gmsh meshes.
//
// gmsh plate.geo -2 -format msh41 -o plate.msh
// gmsh plate.geo -2 -order 2 -format msh41 -o plate-quadratic.msh
// gmsh plate.geo -2 -part 2 -format msh41 -o plate-partitioned.msh
// gmsh plate.geo -2 -format msh22 -o plate-version-2.msh

Point(1) = {0, 0, 0};
Point(2) = {1, 0, 0};
Point(3) = {1, 1, 0};
Point(4) = {0, 1, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1:4};
Plane Surface(1) = {1};
Transfinite Curve {1:4} = 3;

Physical Point("far") = {3};
// Against the direction of the curve, which makes the group's tag negative in $Entities.
Physical Curve("edge") = {-1};
Physical Surface("plate") = {1};
