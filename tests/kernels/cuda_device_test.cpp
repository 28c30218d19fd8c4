// Is it said plainly whether CUDA can be used?
#include <catch2/catch.hpp>

#include "kernels/cuda_queue.h"

namespace cuda_device_test {

using namespace treeline::kernels;

TEST_CASE("there are CUDA devices, or a reason for none") {
    const CudaDevices found = available_devices();
    CHECK(found.devices.empty() != found.reason.empty());
    for (const CudaDevice& device : found.devices) {
        CHECK(device.memory_bytes > 0);
        CHECK(device.multiprocessors > 0);
    }
    if (found.devices.empty()) {
        CHECK_THROWS_AS(cuda_backend().allocate(256), KernelError);
        CHECK_THROWS_AS(CudaQueue(), KernelError);
        CHECK_THROWS_AS(CudaTimer(), KernelError);
    }
}

TEST_CASE("recorded work does when replayed what it does at once") {
    if (available_devices().devices.empty()) {
        return;  // nothing to record on; the case above has checked that it is refused
    }
    const Backend& cuda = cuda_backend();
    const std::size_t words = 1 << 20;
    const CudaQueue queue;
    void* memory = cuda.allocate(words * 4);
    CudaTimer timer;
    {
        const CudaGraph graph(queue, [&](Queue at) {
            cuda.write_probe({memory, words * 4, 7}, at);
            cuda.write_probe({memory, words * 2, 9}, at);
        });
        timer.start(queue.queue());
        graph.replay(queue.queue());
        timer.stop(queue.queue());
    }
    std::vector<unsigned> values(words);
    cuda.download(values.data(), memory, words * 4, queue.queue());
    CHECK(values.front() == 9);
    CHECK(values.back() == 7);
    CHECK(timer.seconds() > 0.0);
    cuda.release(memory);
}

}  // namespace cuda_device_test
