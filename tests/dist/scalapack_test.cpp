// Arrays of ScaLAPACK as they lie: its own product of them beside ours.
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/dist/scalapack.hpp>
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

extern "C" {
int Csys2blacs_handle(MPI_Comm);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
int numroc_(const int* n, const int* block, const int* process, const int* source, const int* processes);
int indxg2p_(const int* index, const int* block, const int* ignored, const int* source, const int* processes);
void descinit_(int* descriptor, const int* rows, const int* columns, const int* block_rows, const int* block_columns,
               const int* source_row, const int* source_column, const int* context, const int* leading, int* info);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* descriptor_a, const double* b, const int* ib,
             const int* jb, const int* descriptor_b, const double* beta, double* c, const int* ic, const int* jc,
             const int* descriptor_c);
}

namespace heddle::scalapack_test {
namespace {

struct Grid {
  Grid(const Communicator& comm, GridOrder order, int rows, int columns) : shape{rows, columns, order} {
    context = Csys2blacs_handle(comm.native());
    Cblacs_gridinit(&context, order == GridOrder::row_major ? "Row" : "Column", rows, columns);
    int height = 0;
    int width = 0;
    Cblacs_gridinfo(context, &height, &width, &row, &column);
  }
  ~Grid() {
    if (inside()) Cblacs_gridexit(context);
  }
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  [[nodiscard]] bool inside() const { return row >= 0; }

  ScalapackGrid shape;
  int context = 0;
  int row = -1;
  int column = -1;
};

// A matrix as a program of ScaLAPACK has it: with `padding` more rows than its part, of which nothing may change.
struct Array {
  Array(const Grid& grid, int rows, int columns, int block_rows, int block_columns, int source_row, int source_column,
        int padding) {
    const int local_rows = grid.inside() ? numroc_(&rows, &block_rows, &grid.row, &source_row, &grid.shape.rows) : 0;
    const int local_columns =
        grid.inside() ? numroc_(&columns, &block_columns, &grid.column, &source_column, &grid.shape.columns) : 0;
    const int leading = std::max(1, local_rows + padding);
    int info = 0;
    if (grid.inside()) {
      descinit_(descriptor, &rows, &columns, &block_rows, &block_columns, &source_row, &source_column, &grid.context,
                &leading, &info);
      EXPECT_EQ(info, 0);
    } else {
      const int nine[] = {1, -1, rows, columns, block_rows, block_columns, source_row, source_column, leading};
      std::copy(std::begin(nine), std::end(nine), descriptor);
    }
    values.assign(static_cast<std::size_t>(leading) * static_cast<std::size_t>(std::max(1, local_columns)), -7.0);
  }
  int descriptor[9] = {};
  std::vector<double> values;
};

int order_of(const Communicator& comm, int most) {
  int rows = 1;
  for (int k = 1; k <= most; ++k) {
    if (comm.size() % k == 0) rows = k;
  }
  return rows;
}

TEST(Scalapack, OwnersAreItsOwn) {
  const Communicator comm = test::world();
  for (const GridOrder order : {GridOrder::row_major, GridOrder::column_major}) {
    const Grid grid(comm, order, order_of(comm, 2), comm.size() / order_of(comm, 2));
    for (int source_row = 0; source_row < grid.shape.rows; ++source_row) {
      for (int source_column = 0; source_column < grid.shape.columns; ++source_column) {
        const Array array(grid, 17, 11, 3, 2, source_row, source_column, 0);
        const Placement placement = placement_of(ScalapackDescriptor::from(array.descriptor), grid.shape);
        SCOPED_TRACE(placement.describe());
        const int mine = comm.rank();
        for (int i = 1; i <= 17; ++i) {
          for (int j = 1; j <= 11; ++j) {
            const int block_rows = 3, block_columns = 2, ignored = 0;
            const int row = indxg2p_(&i, &block_rows, &ignored, &source_row, &grid.shape.rows);
            const int column = indxg2p_(&j, &block_columns, &ignored, &source_column, &grid.shape.columns);
            EXPECT_EQ(placement.owner(i - 1, j - 1) == mine, row == grid.row && column == grid.column);
          }
        }
      }
    }
  }
}

TEST(Scalapack, ProductsOfItsArraysAreItsProducts) {
  const Communicator comm = test::world();
  const int m = 37, n = 29, k = 41;
  for (const GridOrder order : {GridOrder::row_major, GridOrder::column_major}) {
    for (const int height : {1, order_of(comm, 2), comm.size()}) {
      const Grid grid(comm, order, height, comm.size() / height);
      const int last_row = grid.shape.rows - 1;
      const int last_column = grid.shape.columns - 1;
      // pdgemm wants blocks that fit one another; ours need not, as the second round has them.
      for (const bool alike : {true, false}) {
        Array a(grid, m, k, 5, alike ? 4 : 6, last_row, 0, 2);
        Array b(grid, k, n, 4, 3, alike ? 0 : last_row, last_column, 0);
        Array c(grid, m, n, 5, 3, last_row, last_column, 1);
        const auto wrap = [&](Array& array) {
          return matrix_of<double>(comm, grid.shape, ScalapackDescriptor::from(array.descriptor), array.values.data());
        };
        SCOPED_TRACE(wrap(a).placement().describe());
        fill(wrap(a), test::RandomEntries<double>{1});
        fill(wrap(b), test::RandomEntries<double>{2});
        fill(wrap(c), test::RandomEntries<double>{3});
        comm.space().fence();
        Array expected = c;
        const double alpha = 1.5, beta = -0.5;
        gemm<double>(comm, Operation::none, Operation::none, alpha, wrap(a), wrap(b), beta, wrap(c));
        if (alike && grid.inside()) {
          const int one = 1;
          pdgemm_("N", "N", &m, &n, &k, &alpha, a.values.data(), &one, &one, a.descriptor, b.values.data(), &one, &one,
                  b.descriptor, &beta, expected.values.data(), &one, &one, expected.descriptor);
          for (std::size_t at = 0; at < c.values.size(); ++at) {
            EXPECT_NEAR(c.values[at], expected.values[at], 1e-13) << at;
          }
        }
        // And by definition, whatever the blocks.
        const HostMatrix<double> whole = gather(wrap(c), 0);
        if (comm.rank() != 0) continue;
        for (Index i = 0; i < m; ++i) {
          for (Index j = 0; j < n; ++j) {
            double sum = 0.0;
            for (Index l = 0; l < k; ++l) sum += test::random_number(i, l, 1) * test::random_number(l, j, 2);
            EXPECT_NEAR(whole(i, j), alpha * sum + beta * test::random_number(i, j, 3), 1e-13);
          }
        }
      }
    }
  }
}

TEST(Scalapack, WrongDescriptorsAreRefused) {
  const Communicator comm = test::world();
  const ScalapackGrid grid{comm.size(), 1, GridOrder::row_major};
  const ScalapackDescriptor good{1, 0, 10, 10, 2, 2, 0, 0, 10};
  std::vector<double> values(100);
  const auto refused = [&](ScalapackDescriptor wrong, const std::string& words) {
    test::expect_refusal(ErrorKind::argument, words,
                         [&] { static_cast<void>(matrix_of<double>(comm, grid, wrong, values.data())); });
  };
  ScalapackDescriptor wrong = good;
  wrong.type = 501;
  refused(wrong, "of type 501; expected 1, a dense matrix");
  wrong = good;
  wrong.rows = -1;
  refused(wrong, "-1 x 10 matrix");
  wrong = good;
  wrong.block_columns = 0;
  refused(wrong, "blocks of 2 x 0");
  wrong = good;
  wrong.first_row = comm.size();
  refused(wrong, "the first block on process (");
  wrong = good;
  wrong.leading = 1;
  refused(wrong, "a leading dimension of 1 for");
  test::expect_refusal(ErrorKind::argument, "gives no array",
                       [&] { static_cast<void>(matrix_of<double>(comm, grid, good, static_cast<double*>(nullptr))); });
  EXPECT_EQ(placement_of(good, {1, comm.size(), GridOrder::column_major}),
            placement_of(good, {1, comm.size(), GridOrder::row_major}))
      << "of one row both orders are the same";
}

}  // namespace
}  // namespace heddle::scalapack_test
