! Heddle for programs in Fortran: the functions of heddle.h, to be compiled with the program. Arrays are passed as they are,
! descriptors as descinit fills them; each function is 0 where it succeeded, and else heddle_says() gives the reason.
!
!   use heddle
!   type(c_ptr) :: grid
!   if (heddle_start() /= 0) stop 1
!   if (heddle_grid_create_f(MPI_COMM_WORLD, 'R', 2, 2, grid) /= 0) stop 2      ! of MPI_COMM_WORLD%MPI_VAL with mpi_f08
!   if (heddle_pdgemm(grid, 'N', 'N', 1d0, A, desc_a, B, desc_b, 0d0, C, desc_c) /= 0) print *, heddle_says()
module heddle
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: c_ptr, heddle_start, heddle_end, heddle_grid_create_f, heddle_grid_free, heddle_says
  public :: heddle_psgemm, heddle_pdgemm, heddle_pcgemm, heddle_pzgemm
  public :: heddle_psexpm, heddle_pdexpm, heddle_pcexpm, heddle_pzexpm
  public :: heddle_pssolve, heddle_pdsolve, heddle_pcsolve, heddle_pzsolve

  interface
    integer(c_int) function heddle_start() bind(c)
      import :: c_int
    end function
    integer(c_int) function heddle_end() bind(c)
      import :: c_int
    end function
    integer(c_int) function heddle_grid_create_f(comm, order, rows, columns, grid) bind(c)
      import :: c_int, c_char, c_ptr
      integer(c_int), value :: comm, rows, columns
      character(c_char), value :: order
      type(c_ptr), intent(out) :: grid
    end function
    integer(c_int) function heddle_grid_free(grid) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: grid
    end function
    type(c_ptr) function heddle_message() bind(c)
      import :: c_ptr
    end function
    integer(c_size_t) function length_of(text) bind(c, name="strlen")
      import :: c_size_t, c_ptr
      type(c_ptr), value :: text
    end function

    integer(c_int) function heddle_psgemm(grid, op_a, op_b, alpha, a, desc_a, b, desc_b, beta, c, desc_c) bind(c)
      import :: c_int, c_char, c_ptr, c_float
      type(c_ptr), value :: grid
      character(c_char), value :: op_a, op_b
      real(c_float), intent(in) :: alpha, beta, a(*), b(*)
      real(c_float), intent(inout) :: c(*)
      integer(c_int), intent(in) :: desc_a(9), desc_b(9), desc_c(9)
    end function
    integer(c_int) function heddle_pdgemm(grid, op_a, op_b, alpha, a, desc_a, b, desc_b, beta, c, desc_c) bind(c)
      import :: c_int, c_char, c_ptr, c_double
      type(c_ptr), value :: grid
      character(c_char), value :: op_a, op_b
      real(c_double), intent(in) :: alpha, beta, a(*), b(*)
      real(c_double), intent(inout) :: c(*)
      integer(c_int), intent(in) :: desc_a(9), desc_b(9), desc_c(9)
    end function
    integer(c_int) function heddle_pcgemm(grid, op_a, op_b, alpha, a, desc_a, b, desc_b, beta, c, desc_c) bind(c)
      import :: c_int, c_char, c_ptr, c_float
      type(c_ptr), value :: grid
      character(c_char), value :: op_a, op_b
      complex(c_float), intent(in) :: alpha, beta, a(*), b(*)
      complex(c_float), intent(inout) :: c(*)
      integer(c_int), intent(in) :: desc_a(9), desc_b(9), desc_c(9)
    end function
    integer(c_int) function heddle_pzgemm(grid, op_a, op_b, alpha, a, desc_a, b, desc_b, beta, c, desc_c) bind(c)
      import :: c_int, c_char, c_ptr, c_double
      type(c_ptr), value :: grid
      character(c_char), value :: op_a, op_b
      complex(c_double), intent(in) :: alpha, beta, a(*), b(*)
      complex(c_double), intent(inout) :: c(*)
      integer(c_int), intent(in) :: desc_a(9), desc_b(9), desc_c(9)
    end function

    integer(c_int) function heddle_psexpm(grid, a, desc_a, e, desc_e) bind(c)
      import :: c_int, c_ptr, c_float
      type(c_ptr), value :: grid
      real(c_float), intent(in) :: a(*)
      real(c_float), intent(inout) :: e(*)
      integer(c_int), intent(in) :: desc_a(9), desc_e(9)
    end function
    integer(c_int) function heddle_pdexpm(grid, a, desc_a, e, desc_e) bind(c)
      import :: c_int, c_ptr, c_double
      type(c_ptr), value :: grid
      real(c_double), intent(in) :: a(*)
      real(c_double), intent(inout) :: e(*)
      integer(c_int), intent(in) :: desc_a(9), desc_e(9)
    end function
    integer(c_int) function heddle_pcexpm(grid, a, desc_a, e, desc_e) bind(c)
      import :: c_int, c_ptr, c_float
      type(c_ptr), value :: grid
      complex(c_float), intent(in) :: a(*)
      complex(c_float), intent(inout) :: e(*)
      integer(c_int), intent(in) :: desc_a(9), desc_e(9)
    end function
    integer(c_int) function heddle_pzexpm(grid, a, desc_a, e, desc_e) bind(c)
      import :: c_int, c_ptr, c_double
      type(c_ptr), value :: grid
      complex(c_double), intent(in) :: a(*)
      complex(c_double), intent(inout) :: e(*)
      integer(c_int), intent(in) :: desc_a(9), desc_e(9)
    end function

    integer(c_int) function heddle_pssolve(grid, a, desc_a, b, desc_b, x, desc_x, info) bind(c)
      import :: c_int, c_ptr, c_float
      type(c_ptr), value :: grid
      real(c_float), intent(in) :: a(*), b(*)
      real(c_float), intent(inout) :: x(*)
      integer(c_int), intent(in) :: desc_a(9), desc_b(9), desc_x(9)
      integer(c_int), intent(out) :: info
    end function
    integer(c_int) function heddle_pdsolve(grid, a, desc_a, b, desc_b, x, desc_x, info) bind(c)
      import :: c_int, c_ptr, c_double
      type(c_ptr), value :: grid
      real(c_double), intent(in) :: a(*), b(*)
      real(c_double), intent(inout) :: x(*)
      integer(c_int), intent(in) :: desc_a(9), desc_b(9), desc_x(9)
      integer(c_int), intent(out) :: info
    end function
    integer(c_int) function heddle_pcsolve(grid, a, desc_a, b, desc_b, x, desc_x, info) bind(c)
      import :: c_int, c_ptr, c_float
      type(c_ptr), value :: grid
      complex(c_float), intent(in) :: a(*), b(*)
      complex(c_float), intent(inout) :: x(*)
      integer(c_int), intent(in) :: desc_a(9), desc_b(9), desc_x(9)
      integer(c_int), intent(out) :: info
    end function
    integer(c_int) function heddle_pzsolve(grid, a, desc_a, b, desc_b, x, desc_x, info) bind(c)
      import :: c_int, c_ptr, c_double
      type(c_ptr), value :: grid
      complex(c_double), intent(in) :: a(*), b(*)
      complex(c_double), intent(inout) :: x(*)
      integer(c_int), intent(in) :: desc_a(9), desc_b(9), desc_x(9)
      integer(c_int), intent(out) :: info
    end function
  end interface

contains

  ! Why the last function that was not 0 was not.
  function heddle_says() result(text)
    character(:), allocatable :: text
    character(c_char), pointer :: characters(:)
    type(c_ptr) :: message
    integer :: k
    message = heddle_message()
    call c_f_pointer(message, characters, [length_of(message)])
    allocate (character(size(characters)) :: text)
    do k = 1, size(characters)
      text(k:k) = characters(k)
    end do
  end function

end module
