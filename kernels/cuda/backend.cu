// Devices, memory, queues, graphs, clocks, and the table of the CUDA kernels.
#include "kernels/backend.h"

#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/linear_workspace.h"
#include "kernels/cuda_queue.h"

namespace treeline::kernels {
namespace {

using cuda::stream_of;
using cuda::succeed;

void* allocate(std::size_t bytes) {
    void* memory = nullptr;
    succeed(cudaMalloc(&memory, bytes), "cudaMalloc");
    return memory;
}

// Destructors call these, also when the device has failed before: nothing more can be said then.
void release(void* memory) { static_cast<void>(cudaFree(memory)); }

void upload(void* to, const void* from_host, std::size_t bytes, Queue queue) {
    succeed(cudaMemcpyAsync(to, from_host, bytes, cudaMemcpyHostToDevice, stream_of(queue)), "copying to the device");
}

void wait(Queue queue) { succeed(cudaStreamSynchronize(stream_of(queue)), "cudaStreamSynchronize"); }

void download(void* to_host, const void* from, std::size_t bytes, Queue queue) {
    succeed(cudaMemcpyAsync(to_host, from, bytes, cudaMemcpyDeviceToHost, stream_of(queue)), "copying from the device");
    wait(queue);
}

CudaDevice describe(int index, int driver_version) {
    cudaDeviceProp properties{};
    succeed(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
    char pci_bus_id[32] = {};
    succeed(cudaDeviceGetPCIBusId(pci_bus_id, sizeof(pci_bus_id), index), "cudaDeviceGetPCIBusId");
    return {index,
            properties.name,
            pci_bus_id,
            properties.major,
            properties.minor,
            properties.multiProcessorCount,
            properties.totalGlobalMem,
            static_cast<std::size_t>(properties.l2CacheSize),
            driver_version};
}

/// "580": the oldest driver that runs programs of this toolkit (NVIDIA, "CUDA Compatibility", minor version compatibility).
const char* needed_driver() {
    constexpr int major = CUDART_VERSION / 1000;
    return major >= 13 ? "580" : major == 12 ? "525" : "450";
}

std::string toolkit() { return std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10); }

}  // namespace

CudaDevices available_devices() {
    CudaDevices found;
    int driver = 0, count = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
        found.reason = std::string("no NVIDIA driver is installed here; this program needs one of version ") + needed_driver() +
                       " or newer";
    } else if (driver / 1000 < CUDART_VERSION / 1000) {
        found.reason = "the NVIDIA driver is too old: it knows CUDA up to " + std::to_string(driver / 1000) + "." +
                       std::to_string(driver % 1000 / 10) + ", and a program built with CUDA " + toolkit() +
                       " needs a driver of version " + needed_driver() + " or newer";
    } else if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
        found.reason = std::string("no CUDA device can be used: ") + cudaGetErrorString(error);
    } else if (count == 0) {
        found.reason = "there is no CUDA device";
    }
    static_cast<void>(cudaGetLastError());  // a failed question must not be taken for a failed kernel later
    for (int index = 0; found.reason.empty() && index < count; ++index) {
        found.devices.push_back(describe(index, driver));
    }
    return found;
}

const Backend& cuda_backend() {
    static const Backend backend = [] {
        Backend made{};
        made.name = "cuda";
        made.allocate = allocate;
        made.release = release;
        made.upload = upload;
        made.download = download;
        made.wait = wait;
        cuda::put_kernels(made);
        return made;
    }();
    return backend;
}

void select_cuda_device(int index) { succeed(cudaSetDevice(index), "cudaSetDevice"); }

CudaQueue::CudaQueue() {
    cudaStream_t stream = nullptr;
    succeed(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    queue_.stream = stream;
    cuda::prepare_linear(queue_);
}
CudaQueue::~CudaQueue() {
    cuda::release_linear(queue_);
    static_cast<void>(cudaStreamDestroy(stream_of(queue_)));
}

CudaGraph::CudaGraph(const CudaQueue& queue, const std::function<void(Queue)>& work) {
    const cudaStream_t stream = stream_of(queue.queue());
    cudaGraph_t graph = nullptr;
    succeed(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    try {
        work(queue.queue());
    } catch (...) {
        static_cast<void>(cudaStreamEndCapture(stream, &graph));
        static_cast<void>(cudaGraphDestroy(graph));
        throw;
    }
    succeed(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    cudaGraphExec_t executable = nullptr;
    const cudaError_t error = cudaGraphInstantiate(&executable, graph, 0);
    static_cast<void>(cudaGraphDestroy(graph));
    succeed(error, "cudaGraphInstantiate");
    graph_ = executable;
}
CudaGraph::~CudaGraph() { static_cast<void>(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph_))); }

void CudaGraph::replay(Queue queue) const {
    succeed(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph_), stream_of(queue)), "cudaGraphLaunch");
}

CudaTimer::CudaTimer() {
    cudaEvent_t start = nullptr, stop = nullptr;
    succeed(cudaEventCreate(&start), "cudaEventCreate");
    start_ = start;
    succeed(cudaEventCreate(&stop), "cudaEventCreate");
    stop_ = stop;
}
CudaTimer::~CudaTimer() {
    static_cast<void>(cudaEventDestroy(static_cast<cudaEvent_t>(start_)));
    static_cast<void>(cudaEventDestroy(static_cast<cudaEvent_t>(stop_)));
}
void CudaTimer::start(Queue queue) {
    succeed(cudaEventRecord(static_cast<cudaEvent_t>(start_), stream_of(queue)), "cudaEventRecord");
}
void CudaTimer::stop(Queue queue) {
    succeed(cudaEventRecord(static_cast<cudaEvent_t>(stop_), stream_of(queue)), "cudaEventRecord");
}
double CudaTimer::seconds() const {
    float milliseconds = 0.0F;
    succeed(cudaEventSynchronize(static_cast<cudaEvent_t>(stop_)), "cudaEventSynchronize");
    succeed(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(start_), static_cast<cudaEvent_t>(stop_)),
            "cudaEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace treeline::kernels
