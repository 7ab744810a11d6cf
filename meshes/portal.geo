// A portal frame: two columns of height 3, a girder of span 4, 8 elements per member.
//
//   left-knee  o-----------o  right-knee        columns: the two uprights
//              |           |                    girder:  the beam across
//              |           |                    feet:    the two lower ends
//              o           o
//
// gmsh portal.geo -1 -format msh41 -o portal.msh

// Layers, not Transfinite: that one places nodes only to about 1e-12.
Point(1) = {0, 0, 0};
left[] = Extrude {0, 3, 0} { Point{1}; Layers{8}; };
girder[] = Extrude {4, 0, 0} { Point{left[0]}; Layers{8}; };
right[] = Extrude {0, -3, 0} { Point{girder[0]}; Layers{8}; };

Physical Point("feet") = {1, right[0]};
Physical Point("left-knee") = {left[0]};
Physical Point("right-knee") = {girder[0]};
Physical Curve("columns") = {left[1], right[1]};
Physical Curve("girder") = {girder[1]};
