// All of Heddle.
#pragma once

#include <heddle/blas/blas.hpp>
#include <heddle/comm/communicator.hpp>
#include <heddle/comm/device.hpp>
#include <heddle/comm/request.hpp>
#include <heddle/comm/transport.hpp>
#include <heddle/core/error.hpp>
#include <heddle/core/operation.hpp>
#include <heddle/core/scalar.hpp>
#include <heddle/core/version.hpp>
#include <heddle/dist/matrix.hpp>
#include <heddle/dist/placement.hpp>
#include <heddle/dist/split_matrix.hpp>
#include <heddle/expm/expm.hpp>
#include <heddle/gemm/gemm.hpp>
#include <heddle/gemm/tile_model.hpp>
