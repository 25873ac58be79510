// Forwarding of LAPACK routines that this library lacks to the library beneath.
#include "interpose/names/beneath.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

// The name would not have been found without this library either.
[[noreturn]] void none_has(const char* name) {
  std::fprintf(stderr, "heddle: %s is called, and no library beneath has it\n", name);
  std::abort();
}

}  // namespace

#if defined(__x86_64__) && defined(__linux__)

#include <link.h>

#include <string>

// A name of each routine, which counts the call and goes on to the library beneath with all registers and the stack as
// they came: whatever the arguments are, they are that routine's. Only the scratch register of the ABI is used.
struct HeddleBeneath {
  void* routine;  // Null until the first call.
  std::uint64_t calls;
  const char* name;
};
extern "C" {
// By the linker, of the section that entries are in.
extern HeddleBeneath __start_heddle_beneath[]
    __attribute__((visibility("hidden")));  // NOLINT(bugprone-reserved-identifier)
extern HeddleBeneath __stop_heddle_beneath[]
    __attribute__((visibility("hidden")));  // NOLINT(bugprone-reserved-identifier)
__attribute__((visibility("hidden"), used)) void heddle_beneath_find(HeddleBeneath* entry);
}

// NOLINTBEGIN(hicpp-no-assembler)
asm(R"(
  .text
  .globl heddle_beneath_enter
  .hidden heddle_beneath_enter
  .type heddle_beneath_enter, @function
heddle_beneath_enter:
  lock incq 8(%r11)
  cmpq $0, (%r11)
  je 1f
  jmp *(%r11)
1:
  push %rax
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  push %r10
  push %r11
  sub $128, %rsp
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  mov %r11, %rdi
  call heddle_beneath_find
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  add $128, %rsp
  pop %r11
  pop %r10
  pop %r9
  pop %r8
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  pop %rax
  jmp *(%r11)
  .size heddle_beneath_enter, . - heddle_beneath_enter
)");

// A routine's name, and its entry.
#define HEDDLE_BENEATH_NAME(name)                  \
  asm(".pushsection .rodata.heddle_names, \"a\"\n" \
      "8: .asciz \"" #name                         \
      "\"\n"                                       \
      ".popsection\n"                              \
      ".pushsection heddle_beneath, \"aw\"\n"      \
      ".balign 8\n"                                \
      "9: .quad 0, 0, 8b\n"                        \
      ".popsection\n"                              \
      ".text\n"                                    \
      ".globl " #name                              \
      "\n"                                         \
      ".type " #name ", @function\n" #name         \
      ":\n"                                        \
      "lea 9b(%rip), %r11\n"                       \
      "jmp heddle_beneath_enter\n"                 \
      ".size " #name ", . - " #name);
#define HEDDLE_BENEATH(routine)           \
  HEDDLE_BENEATH_NAME(routine##_)         \
  HEDDLE_BENEATH_NAME(routine##_64_)      \
  HEDDLE_BENEATH_NAME(scipy_##routine##_) \
  HEDDLE_BENEATH_NAME(scipy_##routine##_64_)
#define HEDDLE_BENEATH_REAL(stem) HEDDLE_BENEATH(s##stem) HEDDLE_BENEATH(d##stem)
#define HEDDLE_BENEATH_COMPLEX(stem) HEDDLE_BENEATH(c##stem) HEDDLE_BENEATH(z##stem)
#define HEDDLE_BENEATH_FOUR(stem) HEDDLE_BENEATH_REAL(stem) HEDDLE_BENEATH_COMPLEX(stem)
// clang-format off
HEDDLE_BENEATH_FOUR(geevx) HEDDLE_BENEATH_FOUR(geesx)

HEDDLE_BENEATH_FOUR(gebrd)
HEDDLE_BENEATH_FOUR(hseqr) HEDDLE_BENEATH_FOUR(trevc) HEDDLE_BENEATH_FOUR(trsen) HEDDLE_BENEATH_FOUR(trexc)
HEDDLE_BENEATH_FOUR(trsyl) HEDDLE_BENEATH_FOUR(ggev) HEDDLE_BENEATH_FOUR(ggevx) HEDDLE_BENEATH_FOUR(gges)
HEDDLE_BENEATH_FOUR(ggesx) HEDDLE_BENEATH_FOUR(gghrd) HEDDLE_BENEATH_FOUR(hgeqz) HEDDLE_BENEATH_FOUR(tgsen)
HEDDLE_BENEATH_FOUR(gelqf) HEDDLE_BENEATH_FOUR(geqlf) HEDDLE_BENEATH_FOUR(gerqf)
HEDDLE_BENEATH_FOUR(tzrzf) HEDDLE_BENEATH_FOUR(gbsv) HEDDLE_BENEATH_FOUR(gbtrf) HEDDLE_BENEATH_FOUR(gbtrs)
HEDDLE_BENEATH_FOUR(gtsv) HEDDLE_BENEATH_FOUR(gttrf) HEDDLE_BENEATH_FOUR(gttrs) HEDDLE_BENEATH_FOUR(ptsv)
HEDDLE_BENEATH_FOUR(pttrf) HEDDLE_BENEATH_FOUR(pttrs) HEDDLE_BENEATH_FOUR(pbsv) HEDDLE_BENEATH_FOUR(pbtrf)
HEDDLE_BENEATH_FOUR(pbtrs) HEDDLE_BENEATH_FOUR(gesvx) HEDDLE_BENEATH_FOUR(posvx) HEDDLE_BENEATH_FOUR(gbsvx)
HEDDLE_BENEATH_FOUR(gtsvx) HEDDLE_BENEATH_FOUR(ptsvx) HEDDLE_BENEATH_FOUR(sysv) HEDDLE_BENEATH_FOUR(sysvx)
HEDDLE_BENEATH_FOUR(sytrf) HEDDLE_BENEATH_FOUR(sytrs) HEDDLE_BENEATH_FOUR(sytri) HEDDLE_BENEATH_FOUR(potri)
HEDDLE_BENEATH_FOUR(pstrf) HEDDLE_BENEATH_FOUR(pftrf) HEDDLE_BENEATH_FOUR(pftrs) HEDDLE_BENEATH_FOUR(pftri)
HEDDLE_BENEATH_FOUR(ppsv) HEDDLE_BENEATH_FOUR(pptrf) HEDDLE_BENEATH_FOUR(pptrs) HEDDLE_BENEATH_FOUR(pptri)
HEDDLE_BENEATH_FOUR(tbtrs) HEDDLE_BENEATH_FOUR(tptrs) HEDDLE_BENEATH_FOUR(lauum)
HEDDLE_BENEATH_FOUR(gecon) HEDDLE_BENEATH_FOUR(gbcon) HEDDLE_BENEATH_FOUR(gtcon) HEDDLE_BENEATH_FOUR(pocon)
HEDDLE_BENEATH_FOUR(trcon) HEDDLE_BENEATH_FOUR(sycon) HEDDLE_BENEATH_FOUR(gerfs) HEDDLE_BENEATH_FOUR(porfs)
HEDDLE_BENEATH_FOUR(steqr) HEDDLE_BENEATH_FOUR(stedc) HEDDLE_BENEATH_FOUR(stemr) HEDDLE_BENEATH_FOUR(stein)
HEDDLE_BENEATH_FOUR(bdsqr) HEDDLE_BENEATH_FOUR(pteqr) HEDDLE_BENEATH_FOUR(lange) HEDDLE_BENEATH_FOUR(lansy)
HEDDLE_BENEATH_FOUR(lantr)
HEDDLE_BENEATH_REAL(sytrd) HEDDLE_BENEATH_REAL(orgtr) HEDDLE_BENEATH_REAL(ormtr)
HEDDLE_BENEATH_REAL(sbev) HEDDLE_BENEATH_REAL(sbevd) HEDDLE_BENEATH_REAL(sbevx) HEDDLE_BENEATH_REAL(sbgvd)
HEDDLE_BENEATH_REAL(spev) HEDDLE_BENEATH_REAL(spevd) HEDDLE_BENEATH_REAL(spgvd) HEDDLE_BENEATH_REAL(stev)
HEDDLE_BENEATH_REAL(stevd) HEDDLE_BENEATH_REAL(stevr) HEDDLE_BENEATH_REAL(stevx) HEDDLE_BENEATH_REAL(stebz)
HEDDLE_BENEATH_REAL(sterf) HEDDLE_BENEATH_REAL(bdsdc) HEDDLE_BENEATH_REAL(ormhr)
HEDDLE_BENEATH_REAL(orgbr) HEDDLE_BENEATH_REAL(ormbr) HEDDLE_BENEATH_REAL(orglq) HEDDLE_BENEATH_REAL(ormlq)
HEDDLE_BENEATH_REAL(orgrq) HEDDLE_BENEATH_REAL(ormrq) HEDDLE_BENEATH_REAL(ormrz) HEDDLE_BENEATH_REAL(orgql)
HEDDLE_BENEATH_REAL(ormql) HEDDLE_BENEATH_REAL(orcsd)
HEDDLE_BENEATH_COMPLEX(hetrd) HEDDLE_BENEATH_COMPLEX(ungtr)
HEDDLE_BENEATH_COMPLEX(unmtr) HEDDLE_BENEATH_COMPLEX(hbev) HEDDLE_BENEATH_COMPLEX(hbevd) HEDDLE_BENEATH_COMPLEX(hbevx)
HEDDLE_BENEATH_COMPLEX(hbgvd) HEDDLE_BENEATH_COMPLEX(hpev) HEDDLE_BENEATH_COMPLEX(hpevd) HEDDLE_BENEATH_COMPLEX(hpgvd)
HEDDLE_BENEATH_COMPLEX(hesv) HEDDLE_BENEATH_COMPLEX(hesvx) HEDDLE_BENEATH_COMPLEX(hetrf) HEDDLE_BENEATH_COMPLEX(hetrs)
HEDDLE_BENEATH_COMPLEX(hetri) HEDDLE_BENEATH_COMPLEX(hecon) HEDDLE_BENEATH_COMPLEX(lanhe)
HEDDLE_BENEATH_COMPLEX(unmhr) HEDDLE_BENEATH_COMPLEX(ungbr)
HEDDLE_BENEATH_COMPLEX(unmbr) HEDDLE_BENEATH_COMPLEX(unglq) HEDDLE_BENEATH_COMPLEX(unmlq)
HEDDLE_BENEATH_COMPLEX(ungrq) HEDDLE_BENEATH_COMPLEX(unmrq) HEDDLE_BENEATH_COMPLEX(unmrz)
HEDDLE_BENEATH_COMPLEX(ungql) HEDDLE_BENEATH_COMPLEX(unmql) HEDDLE_BENEATH_COMPLEX(uncsd)
    // clang-format on
    // NOLINTEND(hicpp-no-assembler)

    namespace {
  // Files of the objects that are loaded, this one's apart, in the order in which they were.
  std::vector<std::string> other_objects() {
    struct Objects {
      const void* own;
      std::vector<std::string> names;
    };
    Dl_info self{};
    dladdr(reinterpret_cast<void*>(&heddle_beneath_find), &self);
    Objects objects{self.dli_fbase, {}};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t /*size*/, void* data) {
          auto& all = *static_cast<Objects*>(data);
          // The base of a library without a fixed address is the beginning of its file.
          if (reinterpret_cast<const void*>(info->dlpi_addr) != all.own) all.names.emplace_back(info->dlpi_name);
          return 0;
        },
        &objects);
    return objects.names;
  }

  // Libraries that a module brings with itself are not where the system looks for symbols by default.
  void* find_beneath(const char* name) {
    Dl_info self{};
    dladdr(reinterpret_cast<void*>(&heddle_beneath_find), &self);
    for (const std::string& object : other_objects()) {
      void* const handle = dlopen(object.empty() ? nullptr : object.c_str(), RTLD_LAZY | RTLD_NOLOAD);
      if (handle == nullptr) continue;
      void* const found = dlsym(handle, name);
      dlclose(handle);
      Dl_info place{};
      if (found != nullptr && dladdr(found, &place) != 0 && place.dli_fbase != self.dli_fbase) return found;
    }
    return nullptr;
  }

}  // namespace

void heddle_beneath_find(HeddleBeneath* entry) {
  void* const found = find_beneath(entry->name);
  if (found == nullptr) none_has(entry->name);
  __atomic_store_n(&entry->routine, found, __ATOMIC_RELEASE);
}

namespace heddle::impl::interpose {

void* routine_beneath(const char* name) {
  for (const std::string& one : {std::string(name), "scipy_" + std::string(name)}) {
    if (void* const found = find_beneath(one.c_str())) return found;
  }
  none_has(name);
}

std::vector<CalledBeneath> called_beneath() {
  std::vector<CalledBeneath> called;
  for (const HeddleBeneath* entry = __start_heddle_beneath; entry != __stop_heddle_beneath; ++entry) {
    const std::uint64_t calls = __atomic_load_n(&entry->calls, __ATOMIC_RELAXED);
    if (calls > 0) called.push_back({entry->name, calls});
  }
  return called;
}

}  // namespace heddle::impl::interpose

#else

namespace heddle::impl::interpose {

void* routine_beneath(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) none_has(name);
  return found;
}

std::vector<CalledBeneath> called_beneath() {
  return {};
}

}  // namespace heddle::impl::interpose

#endif
