// Gmsh's files that are wrong: each is refused with file, place and reason.
#include "mesh_support.hpp"

namespace heddle::mesh_gmsh_refused_test {
namespace {

const std::string format = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
const std::string nodes = "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n";  // Lines 4 to 10.
const std::string format_4 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";
const std::string nodes_4 = "$Nodes\n1 2 1 2\n3 1 0 2\n1\n2\n0 0 0\n1 0 0\n$EndNodes\n";  // Lines 4 to 11.

class GmshRefused : public ::testing::Test {
 protected:
  void refuse(const std::string& text, const std::string& message) {
    EXPECT_EQ(test::refusal(folder_.write("bad.msh", text)), message);
  }
  Communicator comm_{MPI_COMM_WORLD};
  test::TemporaryFolder folder_{comm_};
};

TEST_F(GmshRefused, Formats) {
  const std::string expected = "expected $MeshFormat, as Gmsh's files begin since version 2, found ";
  refuse("\n\n", ", line 2: " + expected + "the end of the file");
  refuse("$NOD\n1\n", ", line 1: " + expected + "'$NOD'");
  refuse("solid\n", ", line 1: expected the beginning of a section, as $Nodes, found 'solid'");
  refuse("$MeshFormat\n", ", line 1: the file ends where 'version file-type data-size' is expected");
  refuse("$MeshFormat\n3.0 0 8\n", ", line 2: version '3.0' is not read; 2.0 to 2.2, 4.0 and 4.1 are");
  refuse("$MeshFormat\n2.2 2 8\n", ", line 2: the file type is 2, where 0 (text) or 1 (binary) is expected");
  refuse("$MeshFormat\n2.2 0 4\n", ", line 2: the data size is 4, where 8 is expected");
  refuse("$MeshFormat\n2.2 0\n", ", line 2: expected the data size, found the end of the line");
  refuse("$MeshFormat\n2.2 0 8 1\n", ", line 2: expected the end of the line, found '1'");
  refuse("$MeshFormat\n2.2 0 8\n$Nodes\n", ", line 3: expected $EndMeshFormat after the format, found '$Nodes'");
  refuse("$MeshFormat\n4 1 8\n",
         ", line 2: version 4.0 is read as text alone; gmsh -save -format msh41 makes a file that is read");
  refuse("$MeshFormat\n4.1 1 8\n" + std::string("\1\0\0\1", 4) + "\n$EndMeshFormat\n",
         ", byte 20: in $MeshFormat: the number is 16777217, where 1 is expected in one byte order or the other");
}

TEST_F(GmshRefused, Sections) {
  refuse(format, ", line 3: the file ends without $Nodes");
  refuse(format + nodes, ", line 10: the file ends without $Elements");
  refuse(format + "$Elements\n0\n$EndElements\n", ", line 4: $Elements come before $Nodes");
  refuse(format + nodes + nodes, ", line 11: a second $Nodes");
  refuse(format + nodes + "$Elements\n0\n$EndElements\n$Elements\n", ", line 14: a second $Elements");
  refuse(format + "$Comments\nno end\n",
         ": the file ends within $Comments, which begins at line 4; $EndComments is expected");
  refuse(format + "4 0 0 1\n", ", line 4: expected the beginning of a section, as $Nodes, found '4 0 0 1'");
}

TEST_F(GmshRefused, Nodes) {
  refuse(format + "$Nodes\n", ", line 4: the file ends where the number of nodes is expected");
  refuse(format + "$Nodes\nfour\n", ", line 5: expected the number of nodes, found 'four'");
  refuse(format + "$Nodes\n-1\n", ", line 5: the number of nodes is -1, where 0 or more is expected");
  refuse(format + "$Nodes\n99\n1 0 0 0\n", ", line 5: 99 nodes are announced, more than the file's 53 bytes can hold");
  refuse(format + "$Nodes\n2\n1 0 0 0\n", ", line 6: the file ends where a node is expected");
  refuse(format + "$Nodes\n1\n1 0 zero 0\n$EndNodes\n", ", line 6: expected y, found 'zero'");
  refuse(format + "$Nodes\n1\n1 0 0\n$EndNodes\n", ", line 6: expected z, found the end of the line");
  refuse(format + "$Nodes\n1\n1 0 0 inf\n$EndNodes\n", ", line 6: z 'inf' is not finite");
  refuse(format + "$Nodes\n1\n1 0 0 0 0\n$EndNodes\n", ", line 6: expected the end of the line, found '0'");
  refuse(format + "$Nodes\n1\n0 0 0 0\n$EndNodes\n", ", line 6: node tag 0 is not positive");
  refuse(format + "$Nodes\n1\n1.5 0 0 0\n$EndNodes\n", ", line 6: expected a node tag, found '1.5'");
  refuse(format + "$Nodes\n2\n7 0 0 0\n7 1 0 0\n$EndNodes\n", ", line 7: node tag 7 was given already");
  refuse(format + "$Nodes\n3\n70000 0 0 0\n1 1 0 0\n70000 1 0 0\n$EndNodes\n",
         ", line 9: node 2, counted from 0, has the tag of an earlier one");
  refuse(format + "$Nodes\n1\n1 0 0 0\n2 0 0 0\n$EndNodes\n",
         ", line 7: expected $EndNodes after 1 nodes, found '2 0 0 0'");
}

TEST_F(GmshRefused, BlocksOfNodes) {
  refuse(format_4 + "$Nodes\n1 2 1\n", ", line 5: expected the largest tag, found the end of the line");
  refuse(format_4 + "$Nodes\n1 2 1 2\n4 1 0 2\n", ", line 6: an entity has dimension 4, not 0 to 3");
  refuse(format_4 + "$Nodes\n1 2 1 2\n3 1 2 2\n", ", line 6: parametric is 2, where 0 or 1 is expected");
  refuse(format_4 + "$Nodes\n1 2 1 2\n3 1 0 3\n", ", line 6: a block of 3 nodes, where 2 of 2 are left");
  refuse(format_4 + "$Nodes\n1 2 1 2\n3 1 0 1\n1\n0 0 0\n$EndNodes\n",
         ", line 8: the blocks have 1 nodes, where 2 are announced");
  refuse(format_4 + "$Nodes\n1 2 1 2\n3 1 0 2\n1\n1\n", ", line 8: node tag 1 was given already");
  refuse(format_4 + "$Nodes\n1 2 1 2\n2 1 1 2\n1\n2\n0 0 0 0\n",
         ", line 9: expected a parametric coordinate, found the end of the line");
  refuse(format_4 + "$Entities\n0 0 1 0\n1 0 0 0 1 1 1 x\n",
         ", line 6: expected the number of physical groups, found 'x'");
}

TEST_F(GmshRefused, Elements) {
  const std::string taken =
      "; elements of first and second order are taken: points, lines, triangles, quadrangles, tetrahedra, hexahedra, "
      "prisms and pyramids";
  const auto refuse_element = [&](const std::string& line, const std::string& message) {
    refuse(format + nodes + "$Elements\n1\n" + line + "\n$EndElements\n", ", line 13: " + message);
  };
  refuse_element("1 4 2 0 1 1 2 3 5", "element 1 has node 5, which is none of $Nodes");
  refuse_element("1 4 2 0 1 1 2 3 -4", "element 1 has node -4, which is none of $Nodes");
  refuse_element("1 4 2 0 1 1 2 3", "expected a node of an element, found the end of the line");
  refuse_element("1 4 2 0 1 1 2 3 4 1", "expected the end of the line, found '1'");
  refuse_element("1 4 2 0 1 1 2 three 4", "expected a node of an element, found 'three'");
  refuse_element("1 4 -1 1 2 3 4", "element 1 has -1 tags");
  refuse_element("12 11 2 0 1 1 2 3 4 1 2 3 4 1", "expected a node of an element, found the end of the line");
  refuse_element("12 29 2 0 1 1 2 3 4", "element 12 is of Gmsh type 29" + taken);
  refuse_element("12 0 2 0 1 1 2 3 4", "element 12 is of Gmsh type 0" + taken);
  refuse(format + nodes + "$Elements\n2\n1 1 0 1 2\n$EndElements\n",
         ", line 14: expected the number of an element, found "
         "'$EndElements'");
  refuse(format + nodes + "$Elements\n2\n1 1 0 1 2\n", ", line 13: the file ends where an element is expected");
  refuse(format + nodes + "$Elements\n1000\n",
         ", line 12: 1000 elements are announced, more than the file's 101 bytes can hold");
  refuse(format + nodes + "$Elements\n1\n1 1 0 1 2\n2 1 0 1 2\n",
         ", line 14: expected $EndElements after 1 elements, found '2 1 0 1 2'");
}

TEST_F(GmshRefused, BlocksOfElements) {
  const auto refuse_block = [&](const std::string& text, const std::string& message) {
    refuse(format_4 + nodes_4 + "$Elements\n" + text, message);
  };
  refuse_block("1 1 1 1\n3 1 20 1\n",
               ", line 14: element 0, counted from 0, is of Gmsh type 20; elements of first and second order are "
               "taken: points, lines, triangles, quadrangles, tetrahedra, hexahedra, prisms and pyramids");
  refuse_block("1 1 1 1\n1 1 1 2\n", ", line 14: a block of 2 elements, where 1 of 1 are left");
  refuse_block("1 2 1 2\n1 1 1 1\n5 1 2\n$EndElements\n",
               ", line 15: the blocks have 1 elements, where 2 are announced");
  refuse_block("1 1 1 1\n1 1 1 1\n5 1 3\n", ", line 15: element 5 has node 3, which is none of $Nodes");
  refuse_block("1 1 1 1\n1 1 1 -1\n",
               ", line 14: the number of elements in a block is -1, where 0 or more is expected");
}

// Wherever a real file is cut, it is refused; never does it crash or give a mesh.
TEST_F(GmshRefused, FilesCutShort) {
  for (const char* const name : {"mixed-2.2.msh", "mixed-2.2-binary.msh", "mixed-4.0.msh", "mixed-4.1.msh",
                                 "mixed-4.1-binary.msh", "mixed-parts-4.1-binary.msh"}) {
    const std::string whole = test::text_of(test::mesh_data(std::string("gmsh/") + name));
    const auto end = whole.rfind("$EndElements") + std::string("$EndElements").size();
    for (std::size_t length = 1; length < end; length += 97) {
      const std::string reason = test::refusal(folder_.write("cut.msh", whole.substr(0, length)));
      EXPECT_FALSE(reason.empty()) << name << " cut to " << length;
    }
    EXPECT_EQ(test::refusal(folder_.write("cut.msh", whole.substr(0, end - 3))).find(", "), 0U);
  }
}

TEST_F(GmshRefused, BinaryFilesSayWhichByte) {
  const std::string whole = test::text_of(test::mesh_data("gmsh/mixed-2.2-binary.msh"));
  const auto first = whole.find("$Nodes\n121\n") + std::string("$Nodes\n121\n").size();
  const std::string place = ", byte " + std::to_string(first + 28 * 5);
  refuse(whole.substr(0, first + 28 * 60 + 2),
         ", byte " + std::to_string(first + 28 * 60) + ": in $Nodes: the file ends where a node tag is expected");

  std::string changed = whole;
  changed.replace(first + 28 * 5, 4, whole, first, 4);
  refuse(changed, place + ": in $Nodes: node tag 1 was given already");

  changed = whole;
  changed.replace(first + 28 * 5 + 4, 8, std::string("\0\0\0\0\0\0\360\177", 8));  // infinity
  refuse(changed, ", byte " + std::to_string(first + 28 * 5 + 4) + ": in $Nodes: x is not finite");

  const auto elements = whole.find("$Elements\n168\n") + std::string("$Elements\n168\n").size();
  changed = whole;
  changed.replace(elements + 12 + 12, 4, "\377\377\377\177");
  refuse(changed, ", byte " + std::to_string(elements + 24) +
                      ": in $Elements: element 1 has node 2147483647, which is none of $Nodes");
  changed = whole;
  changed[elements] = 20;
  EXPECT_EQ(test::refusal(folder_.write("bad.msh", changed))
                .find(", byte " + std::to_string(elements + 8) +
                      ": in $Elements: element 0, counted from 0, is of Gmsh type 20"),
            0U);
  changed = whole;
  changed.replace(whole.find("\n$EndNodes"), 10, "\n$EndNodez");
  EXPECT_EQ(test::refusal(folder_.write("bad.msh", changed)),
            ", byte " + std::to_string(whole.find("$EndNodes")) +
                ": in $Nodes: expected $EndNodes after 121 nodes, found '$EndNodez'");
}

}  // namespace
}  // namespace heddle::mesh_gmsh_refused_test
