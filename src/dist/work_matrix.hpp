// Matrices with one writer: the holder of a WorkMatrix may write its elements, holders of a SharedMatrix of it may
// read them, and a MatrixStamp tells whether they were written in between.
#pragma once

#include <heddle/dist/matrix.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace heddle::impl {

/// A matrix, and the number of times that its elements were handed out to be written.
template <Scalar T> struct CountedMatrix {
  DistributedMatrix<T> matrix;
  std::uint64_t version = 0;
};

template <Scalar T> class MatrixStamp;
template <Scalar T> class WorkMatrix;

/// A matrix to be read; its copies are handles of the same elements. Empty where it was made of nothing, which stands
/// for a matrix that is exactly zero.
template <Scalar T> class SharedMatrix {
 public:
  SharedMatrix() = default;
  SharedMatrix(std::nullptr_t) {}
  /// A matrix that others own. Nobody may write it as long as this handle or a copy of it is used.
  SharedMatrix(const DistributedMatrix<T>& matrix)
      : held_(std::make_shared<const CountedMatrix<T>>(CountedMatrix<T>{matrix, 0})) {}
  /// A matrix that was written, and that nobody writes any more.
  SharedMatrix(WorkMatrix<T>&& written) : held_(std::move(written.held_)) {}

  explicit operator bool() const { return held_ != nullptr; }
  /// A DistributedMatrix is itself a handle, whose elements its constness does not protect: only read them.
  const DistributedMatrix<T>& operator*() const { return held_->matrix; }
  const DistributedMatrix<T>* operator->() const { return &held_->matrix; }

 private:
  friend class MatrixStamp<T>;
  friend class WorkMatrix<T>;
  explicit SharedMatrix(std::shared_ptr<const CountedMatrix<T>> held) : held_(std::move(held)) {}

  std::shared_ptr<const CountedMatrix<T>> held_;
};

/// A matrix to be written, by its one owner: it moves, and is not copied. Empty where it was made of nothing.
template <Scalar T> class WorkMatrix {
 public:
  WorkMatrix() = default;
  explicit WorkMatrix(const DistributedMatrix<T>& matrix)
      : held_(std::make_shared<CountedMatrix<T>>(CountedMatrix<T>{matrix, 0})) {}
  /// `give_back` is called with the matrix once this and every SharedMatrix of it are gone.
  WorkMatrix(const DistributedMatrix<T>& matrix, std::function<void(const DistributedMatrix<T>&)> give_back)
      : held_(new CountedMatrix<T>{matrix, 0}, [give = std::move(give_back)](const CountedMatrix<T>* used) {
          give(used->matrix);
          delete used;
        }) {}
  WorkMatrix(const WorkMatrix&) = delete;
  WorkMatrix& operator=(const WorkMatrix&) = delete;
  WorkMatrix(WorkMatrix&&) noexcept = default;
  WorkMatrix& operator=(WorkMatrix&&) noexcept = default;
  ~WorkMatrix() = default;

  explicit operator bool() const { return held_ != nullptr; }
  /// The elements, to be written now: ask again before writing later. Copies or results kept under a
  /// MatrixStamp of them are stale from here on.
  [[nodiscard]] const DistributedMatrix<T>& write() {
    ++held_->version;
    return held_->matrix;
  }
  /// The same elements, to be read until the owner writes them again; empty of an empty one.
  [[nodiscard]] SharedMatrix<T> read() const { return SharedMatrix<T>(std::shared_ptr<const CountedMatrix<T>>(held_)); }

 private:
  friend class SharedMatrix<T>;
  std::shared_ptr<CountedMatrix<T>> held_;
};

/// Names the elements of a matrix as they are at one moment, without keeping them. A default one names nothing.
template <Scalar T> class MatrixStamp {
 public:
  MatrixStamp() = default;
  explicit MatrixStamp(const SharedMatrix<T>& matrix)
      : held_(matrix.held_), version_(matrix ? matrix.held_->version : 0) {}

  /// Whether the elements are gone, or may have been written since.
  [[nodiscard]] bool stale() const {
    const auto held = held_.lock();
    return !held || held->version != version_;
  }
  /// Whether these are that matrix's elements, not written since.
  [[nodiscard]] bool matches(const SharedMatrix<T>& matrix) const {
    return matrix && held_.lock() == matrix.held_ && matrix.held_->version == version_;
  }

 private:
  std::weak_ptr<const CountedMatrix<T>> held_;
  std::uint64_t version_ = 0;
};

}  // namespace heddle::impl
