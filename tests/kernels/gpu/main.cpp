// The kernels' tests on the first CUDA device; exit code 77, which ctest counts as skipped, where there is none.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <iostream>

#include "kernel_case.h"

namespace treeline::testing {

const kernels::Backend& backend_under_test() { return kernels::cuda_backend(); }

}  // namespace treeline::testing

int main(int argc, char** argv) {
    const treeline::kernels::CudaDevices found = treeline::kernels::available_devices();
    if (found.devices.empty()) {
        std::cout << "skipped: " << found.reason << '\n';
        return 77;
    }
    std::cout << "on " << found.devices.front().name << '\n';
    return Catch::Session().run(argc, argv);
}
