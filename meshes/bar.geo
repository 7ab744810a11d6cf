// A bar along x from 5 to 15 in 200 equal elements.
//
//   foot o-----------------------------o head        group "bar"
//      x = 5                         x = 15
//
// gmsh bar.geo -1 -format msh41 -o bar.msh
// gmsh bar.geo -1 -format msh41 -bin -o bar-binary.msh

// Layers, not Transfinite: that one places nodes only to about 1e-12.
Point(1) = {5, 0, 0};
bar[] = Extrude {10, 0, 0} { Point{1}; Layers{200}; };

Physical Point("foot") = {1};
Physical Point("head") = {bar[0]};
Physical Curve("bar") = {bar[1]};
