// A plate with a hole and a block beside it, in tetrahedra of two physical groups.
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 2, 1, 1};
Cylinder(2) = {0.5, 0.5, -1, 0, 0, 3, 0.25};
Box(3) = {2, 0, 0, 1, 1, 1};
BooleanDifference(4) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Coherence;
Mesh.MeshSizeMin = 0.35;
Mesh.MeshSizeMax = 0.35;
Physical Volume("plate", 7) = {4};
Physical Volume("block", 3) = {3};
