// Streams, events and graphs: work runs when something waits for it.
#include "streams.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "cache.h"
#include "device_limits.h"
#include "device_memory.h"

using emulation::Cache;
using emulation::DeviceMemory;
using emulation::put;
using emulation::refuse;
using emulation::Work;

struct CUstream_st {
    int device = 0;
    std::deque<Work> waiting;
};
struct CUgraph_st {
    std::vector<Work> work;
};
struct CUgraphExec_st {
    std::vector<Work> work;
};
struct CUevent_st {
    cudaStream_t stream = nullptr;
    bool recorded = false;
    double seconds = 0.0;
};

namespace {

struct Recording {
    cudaStream_t stream = nullptr;
    std::unique_ptr<CUgraph_st> graph;
    bool is_valid = true;
};

struct Device {
    std::array<CUstream_st, emulation::most_devices> default_streams;
    std::set<cudaStream_t> streams;  ///< beside those
    std::optional<Recording> recording;
    std::optional<std::string> failure;  ///< of work that ran, until a call that waits has reported it
    std::string detail;
};

Device& device() {
    static auto* only = new Device;
    return *only;
}

CUstream_st& stream_of(cudaStream_t stream) {
    return stream == nullptr ? device().default_streams[std::size_t(emulation::current_device())] : *stream;
}

/// False where nothing waits in it.
bool run_first(CUstream_st& stream) {
    if (stream.waiting.empty()) {
        return false;
    }
    const Work work = std::move(stream.waiting.front());
    stream.waiting.pop_front();
    if (const std::optional<std::string> failure = work(); failure && !device().failure) {
        device().failure = failure;
    }
    return true;
}

void run_waiting(CUstream_st& stream) {
    while (run_first(stream)) {}
}
void run_waiting(cudaStream_t stream) { run_waiting(stream_of(stream)); }

/// Of all devices.
void run_everything() {
    for (CUstream_st& stream : device().default_streams) {
        run_waiting(stream);
    }
    for (const cudaStream_t stream : device().streams) {
        run_waiting(*stream);
    }
}

cudaError_t report() {
    if (device().failure) {
        const std::string failure = *std::exchange(device().failure, std::nullopt);
        return refuse(cudaErrorLaunchFailure, failure);
    }
    return cudaSuccess;
}

bool is_stream(const CUstream_st* stream) {
    const auto& defaults = device().default_streams;
    return std::any_of(defaults.begin(), defaults.end(), [&](const CUstream_st& each) { return &each == stream; }) ||
           device().streams.contains(const_cast<cudaStream_t>(stream));
}

/// What may not be called while a graph is recorded makes it useless.
bool spoils_recording() {
    if (device().recording) {
        device().recording->is_valid = false;
    }
    return device().recording.has_value();
}

cudaError_t refuse_in_recording(const char* call) {
    return refuse(cudaErrorStreamCaptureUnsupported, std::string(call) + " while a graph is recorded");
}

}  // namespace

namespace emulation {

cudaError_t put(cudaStream_t stream, Work work) {
    if (device().recording) {
        if (device().recording->stream != stream) {
            device().recording->is_valid = false;
            return refuse(cudaErrorStreamCaptureUnsupported, "work for another stream while a graph is recorded");
        }
        device().recording->graph->work.push_back(std::move(work));
    } else {
        stream_of(stream).waiting.push_back(std::move(work));
    }
    return cudaSuccess;
}

int device_of(cudaStream_t stream) { return stream->device; }

bool run_next_work(int number) {
    if (run_first(device().default_streams[std::size_t(number)])) {
        return true;
    }
    return std::any_of(device().streams.begin(), device().streams.end(),
                       [&](cudaStream_t stream) { return stream->device == number && run_first(*stream); });
}

cudaError_t refuse(cudaError_t error, const std::string& detail) {
    device().detail = detail;
    return error;
}

}  // namespace emulation

const char* cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : device().detail.c_str(); }

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
    if (spoils_recording()) {
        return refuse_in_recording("cudaMalloc");
    }
    if (DeviceMemory::all().allocated() + bytes > emulation::memory_bytes()) {
        return refuse(cudaErrorMemoryAllocation, "out of memory");
    }
    *memory = DeviceMemory::all().allocate(bytes);
    return cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
    if (spoils_recording()) {
        return refuse_in_recording("cudaFree");
    }
    run_everything();
    return memory == nullptr || DeviceMemory::all().release(memory)
               ? cudaSuccess
               : refuse(cudaErrorInvalidValue, "cudaFree of memory that is not the device's");
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    if (spoils_recording()) {
        return refuse_in_recording("a copy from or to the host");
    }
    const bool up = kind == cudaMemcpyHostToDevice;
    if (bytes > 0 && !DeviceMemory::all().holds(up ? to : from, bytes)) {
        return refuse(cudaErrorInvalidValue, "a copy reaches beyond the device's memory");
    }
    if (up) {
        // Memory of the host that is not pinned has been read when the call returns.
        const auto* bytes_of = static_cast<const std::byte*>(from);
        return put(stream, [to, staged = std::vector<std::byte>(bytes_of, bytes_of + bytes)]() -> std::optional<std::string> {
            std::memcpy(to, staged.data(), staged.size());
            return std::nullopt;
        });
    }
    run_waiting(stream);
    std::memcpy(to, from, bytes);
    return report();
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
    if (!DeviceMemory::all().holds(memory, bytes)) {
        return refuse(cudaErrorInvalidValue, "cudaMemsetAsync reaches beyond the device's memory");
    }
    return put(stream, [=]() -> std::optional<std::string> {
        std::memset(memory, value, bytes);
        return std::nullopt;
    });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
    *stream = new CUstream_st{emulation::current_device(), {}};
    device().streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    run_waiting(stream);
    device().streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (spoils_recording()) {
        return refuse_in_recording("cudaStreamSynchronize");
    }
    run_waiting(stream);
    return report();
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode /*mode*/) {
    if (stream == nullptr || device().recording) {
        return refuse(cudaErrorStreamCaptureUnsupported, "the default stream, or a second one, cannot be recorded");
    }
    device().recording = Recording{stream, std::make_unique<CUgraph_st>(), true};
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    *graph = nullptr;
    if (!device().recording || device().recording->stream != stream) {
        return refuse(cudaErrorInvalidValue, "the stream is not being recorded");
    }
    Recording done = std::move(*std::exchange(device().recording, std::nullopt));
    if (!done.is_valid) {
        return cudaErrorStreamCaptureInvalidated;  // the detail says what spoilt it
    }
    *graph = done.graph.release();
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long /*flags*/) {
    *executable = new CUgraphExec_st{graph->work};
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    delete executable;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    for (const Work& work : executable->work) {
        if (const cudaError_t error = put(stream, work); error != cudaSuccess) {
            return error;
        }
    }
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    *event = new CUevent_st;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    run_everything();  // it may wait in a stream
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    event->stream = &stream_of(stream);
    event->recorded = false;
    return put(stream, [event]() -> std::optional<std::string> {
        event->seconds = Cache::device().is_on()
                             ? Cache::device().seconds()
                             : std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
        event->recorded = true;
        return std::nullopt;
    });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (spoils_recording()) {
        return refuse_in_recording("cudaEventSynchronize");
    }
    if (is_stream(event->stream)) {
        run_waiting(*event->stream);
    }
    return report();
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    if (!start->recorded || !stop->recorded) {
        return refuse(cudaErrorInvalidValue, "an event has not taken place");
    }
    *milliseconds = static_cast<float>(1e3 * (stop->seconds - start->seconds));
    return cudaSuccess;
}
