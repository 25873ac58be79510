// The former place of <heddle/emulation/emulation.hpp>, for programs that include it by this name.
#pragma once

#include <heddle/emulation/emulation.hpp>
