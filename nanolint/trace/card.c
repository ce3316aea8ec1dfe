// A CUDA without a card. Loaded before PyTorch's own CUDA build (LD_PRELOAD), it answers for
// libcudart, libcublas, libcudnn, libnccl and libcuda: every call succeeds, nothing is computed, and
// the addresses have nothing behind them. PyTorch's dispatcher, autograd, the host side of its
// kernels and its caching allocator run as they are.
//
// build.py compiles it with CUDA_MAJOR (12 or 13), adds a function that returns 0 for every other
// symbol that the installed PyTorch imports, and says in NANOLINT_CARD_* what card to pretend.
// CUDA's structures are written out by offset, from the headers of CUDA 12.4 and 13.0.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SUCCESS = 0, OUT_OF_MEMORY = 2, NOT_FOUND = 500, NOT_READY = 600 };

// ---------------------------------------------------------------- the card, from the environment

static uint64_t told(const char* name, uint64_t otherwise) {
  const char* value = getenv(name);
  return value && *value ? strtoull(value, 0, 10) : otherwise;
}
#define LAST_BYTES (15ull << 40)
static uint64_t total_bytes(void) { return told("NANOLINT_CARD_BYTES", 85899345920ull); }
// What is given out: more than any card has, so that a run that fits none goes on to its end.
static uint64_t room_bytes(void) { return told("NANOLINT_CARD_ROOM", LAST_BYTES); }
static int major(void) { return told("NANOLINT_CARD_MAJOR", 8); }
static int minor(void) { return told("NANOLINT_CARD_MINOR", 0); }
static int capability(void) { return 10 * major() + minor(); }
// The capability that the kernels were compiled for which the card would run: CUB dispatches on it.
static int compiled(void) { return told("NANOLINT_CARD_KERNELS", capability()); }
static int multiprocessors(void) { return told("NANOLINT_CARD_SMS", 108); }

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
static int threads_per_multiprocessor(void) {
  int c = capability();
  return c == 75 ? 1024 : c == 86 || c == 87 || c == 89 || c >= 110 ? 1536 : 2048;
}
static int blocks_per_multiprocessor(void) {
  int c = capability();
  return c == 75 || c == 86 || c == 87 ? 16 : c == 89 || c >= 110 ? 24 : 32;
}
static int shared_kib(void) {  // of a multiprocessor; a block may take 1 KiB less from 8.0 on
  int c = capability();
  return c < 75 ? 96 : c == 75 ? 64 : c == 80 || c == 87 ? 164 : c == 86 || c == 89 ? 100 : c >= 120 ? 100 : 228;
}
static int shared_optin_kib(void) { return shared_kib() - (capability() >= 80); }

// ------------------------------------------------------------------------------------ its memory

static const uintptr_t FIRST = 0x400000000000ull, LAST = 0x500000000000ull;
enum { GRANULARITY = 2 << 20 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t used, top;
typedef struct { uintptr_t at; uint64_t nbytes; } Segment;
static Segment* segments;
static size_t count, room;

static int ours(const void* p) { return (uintptr_t)p >= FIRST && (uintptr_t)p < LAST; }

// Addresses that are never handed out twice, of pages that read as zeros.
static uintptr_t addresses(uint64_t nbytes) {
  if (!top) {
    void* at = mmap((void*)FIRST, LAST - FIRST, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != (void*)FIRST) { perror("nanolint: addresses for the card"); abort(); }
    top = FIRST;
  }
  uintptr_t at = top;
  top += (nbytes + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
  return top <= LAST ? at : 0;
}

int cudaMalloc(void** p, size_t nbytes) {
  pthread_mutex_lock(&lock);
  *p = used + nbytes <= room_bytes() ? (void*)addresses(nbytes) : 0;
  if (*p) {
    if (count == room) segments = realloc(segments, (room = 2 * room + 64) * sizeof *segments);
    segments[count++] = (Segment){(uintptr_t)*p, nbytes};
    used += nbytes;
  }
  pthread_mutex_unlock(&lock);
  return *p ? SUCCESS : OUT_OF_MEMORY;
}

int cudaFree(void* p) {
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < count; i++)
    if (segments[i].at == (uintptr_t)p) {
      used -= segments[i].nbytes;
      segments[i] = segments[--count];
      break;
    }
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

int cudaMemGetInfo(size_t* unused, size_t* total) {
  *total = total_bytes();
  *unused = used < *total ? *total - used : 0;
  return SUCCESS;
}

// Pinned memory of the host, which DDP asks for by name (find_unused_parameters). What there is no
// room for here is memory like any other.
enum { MOST_PINNED = 4096 };
static struct { char* start; size_t nbytes; } pinned[MOST_PINNED];

static int is_pinned(const void* p) {
  int found = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST_PINNED && !found; i++)
    found = pinned[i].start && (char*)p >= pinned[i].start && (char*)p < pinned[i].start + pinned[i].nbytes;
  pthread_mutex_unlock(&lock);
  return found;
}

static void pin(char* from, char* to, size_t nbytes) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST_PINNED; i++)
    if (pinned[i].start == from) {
      pinned[i].start = to;
      pinned[i].nbytes = nbytes;
      break;
    }
  pthread_mutex_unlock(&lock);
}

int cudaHostAlloc(void** p, size_t nbytes, unsigned flags) {
  if (posix_memalign(p, 4096, nbytes ? nbytes : 1)) return OUT_OF_MEMORY;
  pin(0, *p, nbytes ? nbytes : 1);
  return SUCCESS;
}
int cudaMallocHost(void** p, size_t nbytes) { return cudaHostAlloc(p, nbytes, 0); }
int cudaFreeHost(void* p) {
  if (p) pin(p, 0, 0);
  free(p);
  return SUCCESS;
}

// Small copies are real, so that the host can read again what it wrote: DDP compares parameters so,
// and rebuilds its buckets. Larger ones would make the pages real.
enum { REAL_COPY = 65536 };

// A block that PyTorch uses again may still hold what was copied there before, and no kernel writes
// over it: a loss would be what a token was. So a scalar where a block may start is what was copied
// to that very place as one, else zero.
enum { BLOCK = 512, SCALAR = 16, MOST_COPIED = 65536 };
static struct { uintptr_t at; size_t nbytes; } copied[MOST_COPIED];

static void note(const void* to, size_t nbytes) {
  uintptr_t start = (uintptr_t)to, first = (start + BLOCK - 1) / BLOCK * BLOCK;
  for (uintptr_t at = first; at < start + nbytes; at += BLOCK) {
    copied[at / BLOCK % MOST_COPIED].at = at;
    copied[at / BLOCK % MOST_COPIED].nbytes = at == start ? nbytes : 0;
  }
}

static int is_left_over(const void* from, size_t nbytes) {
  uintptr_t at = (uintptr_t)from;
  if (nbytes > SCALAR || at % BLOCK || !ours(from)) return 0;
  return copied[at / BLOCK % MOST_COPIED].at != at || copied[at / BLOCK % MOST_COPIED].nbytes != nbytes;
}

static int copy(void* to, const void* from, size_t nbytes) {
  int is_real = nbytes <= REAL_COPY || (!ours(to) && !ours(from));
  if (is_real && !is_left_over(from, nbytes)) memmove(to, from, nbytes);
  else if (is_real || !ours(to)) memset(to, 0, nbytes);
  if (is_real && ours(to)) note(to, nbytes);
  return SUCCESS;
}
int cudaMemcpy(void* to, const void* from, size_t nbytes, int kind) { return copy(to, from, nbytes); }
int cudaMemcpyAsync(void* to, const void* from, size_t nbytes, int kind, void* stream) { return copy(to, from, nbytes); }
int cudaMemcpyPeerAsync(void* to, int a, const void* from, int b, size_t nbytes, void* stream) { return copy(to, from, nbytes); }

// Expandable segments reserve addresses and map pieces of memory into them.
int cuMemAddressReserve(uint64_t* p, size_t nbytes, size_t alignment, uint64_t at, uint64_t flags) {
  pthread_mutex_lock(&lock);
  *p = addresses(nbytes);
  pthread_mutex_unlock(&lock);
  return *p ? SUCCESS : OUT_OF_MEMORY;
}
int cuMemCreate(uint64_t* handle, size_t nbytes, const void* properties, uint64_t flags) {
  int fits;
  pthread_mutex_lock(&lock);
  if ((fits = used + nbytes <= room_bytes())) used += nbytes;
  pthread_mutex_unlock(&lock);
  *handle = nbytes;  // all that there is to know of it
  return fits ? SUCCESS : OUT_OF_MEMORY;
}
int cuMemRelease(uint64_t handle) {
  pthread_mutex_lock(&lock);
  used -= handle;
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

// ------------------------------------------------------------------------------- what it says of itself

static __thread int current;
int cudaGetDeviceCount(int* n) { *n = told("NANOLINT_CARD_COUNT", 1); return SUCCESS; }
int cudaGetDevice(int* device) { *device = current; return SUCCESS; }
int cudaSetDevice(int device) { current = device; return SUCCESS; }
int cudaDeviceGetStreamPriorityRange(int* least, int* most) { *least = 0; *most = -5; return SUCCESS; }
int cudaDriverGetVersion(int* version) { *version = 1000 * CUDA_MAJOR; return SUCCESS; }
int cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
int cudaDeviceCanAccessPeer(int* can, int a, int b) { *can = 0; return SUCCESS; }
int cudaDeviceGetPCIBusId(char* id, int length, int device) { snprintf(id, length, "0000:%02x:00.0", device); return SUCCESS; }

static char* here;
#define PUT(type, at12, at13, value) (*(type*)(here + (CUDA_MAJOR == 12 ? at12 : at13)) = (value))

// struct cudaDeviceProp: 1032 bytes in CUDA 12, 1008 in CUDA 13.
int cudaGetDeviceProperties(void* properties, int device) {
  const char* name = getenv("NANOLINT_CARD_NAME");
  here = properties;
  memset(properties, 0, CUDA_MAJOR == 12 ? 1032 : 1008);
  snprintf(properties, 256, "%s", name ? name : "NVIDIA A100-SXM4-80GB");
  PUT(uint64_t, 288, 288, total_bytes());
  PUT(uint64_t, 296, 296, 49152);  // sharedMemPerBlock
  PUT(int, 304, 304, 65536);       // regsPerBlock
  PUT(int, 308, 308, 32);          // warpSize
  PUT(int, 320, 320, 1024);        // maxThreadsPerBlock
  PUT(int, 324, 324, 1024);        // maxThreadsDim
  PUT(int, 328, 328, 1024);
  PUT(int, 332, 332, 64);
  PUT(int, 336, 336, 2147483647);  // maxGridSize
  PUT(int, 340, 340, 65535);
  PUT(int, 344, 344, 65535);
  PUT(uint64_t, 352, 352, 65536);  // totalConstMem
  PUT(int, 360, 360, major());
  PUT(int, 364, 364, minor());
  PUT(uint64_t, 368, 368, 512);    // textureAlignment
  PUT(int, 388, 384, multiprocessors());
  PUT(int, 576, 560, 1);           // concurrentKernels
  PUT(int, 604, 588, 1);           // unifiedAddressing
  PUT(int, 612, 592, 5120);        // memoryBusWidth
  PUT(int, 616, 596, 40 << 20);    // l2CacheSize
  PUT(int, 624, 604, threads_per_multiprocessor());
  PUT(uint64_t, 640, 624, 1024ull * shared_kib());
  PUT(int, 648, 632, 65536);       // regsPerMultiprocessor
  PUT(int, 688, 668, 1);           // cooperativeLaunch
  PUT(uint64_t, 696, 672, 1024ull * shared_optin_kib());
  PUT(int, 712, 688, blocks_per_multiprocessor());
  return SUCCESS;
}
int cudaGetDeviceProperties_v2(void* properties, int device) { return cudaGetDeviceProperties(properties, device); }

int cudaDeviceGetAttribute(int* value, int attribute, int device) {  // enum cudaDeviceAttr
  switch (attribute) {
    case 1: case 2: case 3: *value = attribute == 3 ? 64 : 1024; break;  // threads of a block, and by x, y, z
    case 4: *value = 64; break;
    case 5: *value = 2147483647; break;                // blocks of a grid by x, y, z
    case 6: case 7: *value = 65535; break;
    case 8: *value = 49152; break;                     // shared memory of a block
    case 10: *value = 32; break;                       // threads of a warp
    case 12: case 82: *value = 65536; break;           // registers of a block, of a multiprocessor
    case 16: *value = multiprocessors(); break;
    case 38: *value = 40 << 20; break;                 // level 2 cache
    case 39: *value = threads_per_multiprocessor(); break;
    case 75: *value = major(); break;
    case 76: *value = minor(); break;
    case 81: *value = 1024 * shared_kib(); break;
    case 95: *value = 1; break;                        // cooperative launch
    case 97: *value = 1024 * shared_optin_kib(); break;
    case 106: *value = blocks_per_multiprocessor(); break;
    default: *value = 0;
  }
  return SUCCESS;
}

// struct cudaPointerAttributes: type, device, two pointers.
int cudaPointerGetAttributes(void* attributes, const void* p) {
  memset(attributes, 0, 24);
  *(int*)attributes = ours(p) ? 2 : is_pinned(p) ? 1 : 0;  // cudaMemoryTypeDevice, Host, Unregistered
  *(const void**)((char*)attributes + (ours(p) ? 8 : 16)) = p;
  return SUCCESS;
}

// struct cudaFuncAttributes.
int cudaFuncGetAttributes(void* attributes, const void* function) {
  here = attributes;
  memset(attributes, 0, 144);
  PUT(int, 24, 24, 1024);           // maxThreadsPerBlock
  PUT(int, 28, 28, 32);             // numRegs
  PUT(int, 32, 32, compiled());     // ptxVersion
  PUT(int, 36, 36, compiled());     // binaryVersion
  PUT(int, 44, 44, 49152);          // maxDynamicSharedSizeBytes
  return SUCCESS;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* n, const void* f, int block, size_t shared, unsigned flags) {
  int most = threads_per_multiprocessor() / (block ? block : 1);
  *n = most > blocks_per_multiprocessor() ? blocks_per_multiprocessor() : most < 1 ? 1 : most;
  return SUCCESS;
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* n, const void* f, int block, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n, f, block, shared, 0);
}

// ----------------------------------------------------------------- streams, events, kernels, graphs

static void* handle(void) { return calloc(1, 4096); }  // something with an address of its own
int cudaStreamCreate(void** s) { *s = handle(); return SUCCESS; }
int cudaStreamCreateWithFlags(void** s, unsigned flags) { *s = handle(); return SUCCESS; }
int cudaStreamCreateWithPriority(void** s, unsigned flags, int priority) { *s = handle(); return SUCCESS; }
int cudaStreamGetPriority(void* s, int* priority) { *priority = 0; return SUCCESS; }
// A graph records what one stream is given, and is an address of its own.
static void* recorded;
static unsigned long long captures;
int nanolint_graphs(void) { return captures; }
int cudaStreamBeginCapture(void* s, int mode) { recorded = s; captures++; return SUCCESS; }
int cudaStreamEndCapture(void* s, void** graph) { recorded = 0; *graph = handle(); return SUCCESS; }
int cudaStreamIsCapturing(void* s, int* status) { *status = s && s == recorded; return SUCCESS; }
int cudaThreadExchangeStreamCaptureMode(int* mode) { return SUCCESS; }
int cudaStreamGetCaptureInfo(void* s, int* status, unsigned long long* id) { if (id) *id = captures; return cudaStreamIsCapturing(s, status); }
int cudaStreamGetCaptureInfo_v2(void* s, int* status, unsigned long long* id) { return cudaStreamGetCaptureInfo(s, status, id); }
int cudaStreamGetCaptureInfo_v3(void* s, int* status, unsigned long long* id) { return cudaStreamGetCaptureInfo(s, status, id); }
int cudaEventCreate(void** e) { *e = handle(); return SUCCESS; }
int cudaEventCreateWithFlags(void** e, unsigned flags) { *e = handle(); return SUCCESS; }

// PyTorch lets go of what NCCL works on when a thread of its own, its watchdog, has seen that the work
// is done: it asks every 100 ms. On a card that is after the next forward pass has begun, here it was
// whenever the thread ran. It is told so at moments that the script's own thread chooses.
static volatile int done = 1, collectives;
void nanolint_done(int now) { done = now; }
int nanolint_collectives(void) { return collectives; }  // begun so far
int cudaEventQuery(void* e) {
  return done || syscall(SYS_gettid) == getpid() ? SUCCESS : NOT_READY;
}
int cudaEventElapsedTime(float* milliseconds, void* a, void* b) { *milliseconds = 1; return SUCCESS; }
int cudaEventElapsedTime_v2(float* milliseconds, void* a, void* b) { *milliseconds = 1; return SUCCESS; }
const char* cudaGetErrorString(int error) { return error == OUT_OF_MEMORY ? "out of memory" : "no error"; }
const char* cudaGetErrorName(int error) { return error == OUT_OF_MEMORY ? "cudaErrorMemoryAllocation" : error ? "an error of the pretended card" : "cudaSuccess"; }

typedef struct { unsigned x, y, z; } Dim3;
static __thread struct { Dim3 grid, block; size_t shared; void* stream; } pushed;
void** __cudaRegisterFatBinary(void* binary) { static void* registered[4]; return registered; }
void __cudaRegisterFatBinaryEnd(void** h) {}
void __cudaUnregisterFatBinary(void** h) {}
void __cudaRegisterFunction(void) {}
void __cudaRegisterVar(void) {}
char __cudaInitModule(void** h) { return 1; }
int __cudaGetKernel(void** kernel, const void* function) { *kernel = (void*)function; return SUCCESS; }
unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared, void* stream) {
  pushed.grid = grid; pushed.block = block; pushed.shared = shared; pushed.stream = stream;
  return 0;
}
int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared, void** stream) {
  *grid = pushed.grid; *block = pushed.block; *shared = pushed.shared; *stream = pushed.stream;
  return SUCCESS;
}
int cudaGetSymbolAddress(void** p, const void* symbol) {
  if (!top) addresses(0);
  *p = (void*)(LAST - 4096);
  return SUCCESS;
}
int nvrtcGetCUBINSize(void* program, size_t* n) { *n = 1; return SUCCESS; }
int nvrtcGetPTXSize(void* program, size_t* n) { *n = 1; return SUCCESS; }
int nvrtcGetProgramLogSize(void* program, size_t* n) { *n = 1; return SUCCESS; }

// ---------------------------------------------------------------- the driver, as far as it is asked for by name

static int succeed(void) { return SUCCESS; }
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) { *flags = 0; *active = 1; return SUCCESS; }
int cuCtxGetCurrent(void** context) { *context = (void*)16; return SUCCESS; }
int cuDeviceGet(int* device, int n) { *device = n; return SUCCESS; }
int cuDeviceGetCount(int* n) { return cudaGetDeviceCount(n); }
int cuDriverGetVersion(int* version) { return cudaDriverGetVersion(version); }
int cuDeviceGetAttribute(int* value, int attribute, int device) { return cudaDeviceGetAttribute(value, attribute, device); }
int cuGetErrorString(int error, const char** text) { *text = cudaGetErrorString(error); return SUCCESS; }

static const struct { const char* name; void* function; } DRIVER[] = {
  {"cuDevicePrimaryCtxGetState", cuDevicePrimaryCtxGetState}, {"cuCtxGetCurrent", cuCtxGetCurrent},
  {"cuDeviceGet", cuDeviceGet}, {"cuDeviceGetCount", cuDeviceGetCount},
  {"cuDriverGetVersion", cuDriverGetVersion}, {"cuDeviceGetAttribute", cuDeviceGetAttribute},
  {"cuGetErrorString", cuGetErrorString}, {"cuMemAddressReserve", cuMemAddressReserve},
  {"cuMemCreate", cuMemCreate}, {"cuMemRelease", cuMemRelease},
};
static void* driver(const char* name) {
  for (size_t i = 0; i < sizeof DRIVER / sizeof *DRIVER; i++)
    if (!strcmp(DRIVER[i].name, name)) return DRIVER[i].function;
  return succeed;
}
int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version, unsigned long long flags, int* result) {
  *function = driver(name);
  if (result) *result = 0;
  return SUCCESS;
}
int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags, int* result) {
  return cudaGetDriverEntryPointByVersion(name, function, 0, flags, result);
}
int cudaGetDriverEntryPoint_ptsz(const char* name, void** function, unsigned long long flags, int* result) {
  return cudaGetDriverEntryPoint(name, function, flags, result);
}

// ------------------------------------------------------------------------- cuBLAS, cuBLASLt, cuDNN

int cublasCreate_v2(void** h) { *h = handle(); return SUCCESS; }
int cublasGetPointerMode_v2(void* h, int* mode) { *mode = 0; return SUCCESS; }
int cublasGetMathMode(void* h, int* mode) { *mode = 0; return SUCCESS; }
size_t cublasLtGetVersion(void) { return 10000 * CUDA_MAJOR; }
int cublasLtCreate(void** h) { *h = handle(); return SUCCESS; }
int cublasLtMatmulDescCreate(void** d, int compute, int scale) { *d = handle(); return SUCCESS; }
int cublasLtMatmulPreferenceCreate(void** d) { *d = handle(); return SUCCESS; }
int cublasLtMatrixLayoutCreate(void** d, int type, uint64_t rows, uint64_t columns, int64_t stride) { *d = handle(); return SUCCESS; }
int cublasLtMatmulDescDestroy(void* d) { free(d); return SUCCESS; }
int cublasLtMatmulPreferenceDestroy(void* d) { free(d); return SUCCESS; }
int cublasLtMatrixLayoutDestroy(void* d) { free(d); return SUCCESS; }
// cublasLtMatmulHeuristicResult_t: algo (64), workspaceSize (8), state (4), wavesCount (4), reserved (16).
int cublasLtMatmulAlgoGetHeuristic(void* h, void* o, void* a, void* b, void* c, void* d, void* p, int n, void* result, int* found) {
  memset(result, 0, 96);
  *found = 1;
  return SUCCESS;
}
size_t cudnnGetVersion(void) { return 92000; }
size_t cudnnGetCudartVersion(void) { return 1000 * CUDA_MAJOR; }
int cudnnCreate(void** h) { *h = handle(); return SUCCESS; }
const char* cudnnGetErrorString(int error) { return "no error"; }
void cudnnGetLastErrorString(char* text, size_t room) { if (room) *text = 0; }
// Only where it is asked for, to record operations, a convolution has a plan, which needs no
// workspace: what cuDNN's own would need nobody knows without it.
int cudnnBackendCreateDescriptor(int kind, void** d) { *d = handle(); return SUCCESS; }
int cudnnBackendDestroyDescriptor(void* d) { free(d); return SUCCESS; }
int cudnnBackendGetAttribute(void* d, int name, int type, int64_t room, int64_t* count, void* values) {
  if (!told("NANOLINT_CARD_CUDNN", 0)) return SUCCESS;
  if (count) *count = 1;
  if (values && type == 3) *(int64_t*)values = 0;  // CUDNN_TYPE_INT64
  return SUCCESS;
}
int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(void* h, int mode, int ops, void* x, void* z, void* y, void* b, void* a, size_t* n) { *n = 0; return SUCCESS; }
int cudnnGetBatchNormalizationBackwardExWorkspaceSize(void* h, int mode, int ops, void* x, void* y, void* dy, void* dz, void* dx, void* b, void* a, size_t* n) { *n = 0; return SUCCESS; }
int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void* h, int mode, int ops, void* a, void* x, size_t* n) { *n = 0; return SUCCESS; }

// ------------------------------------- NCCL: communicators of one process that believes in the others

typedef struct { char bytes[128]; } UniqueId;
int ncclGetVersion(int* version) { *version = 22800; return SUCCESS; }
int ncclGetUniqueId(UniqueId* id) { memset(id, 1, sizeof *id); return SUCCESS; }
int ncclCommInitRank(void** c, int n, UniqueId id, int rank) { *c = handle(); return SUCCESS; }
int ncclCommInitRankConfig(void** c, int n, UniqueId id, int rank, void* config) { *c = handle(); return SUCCESS; }
int ncclCommInitRankScalable(void** c, int n, int rank, int ids, void* id, void* config) { *c = handle(); return SUCCESS; }
int ncclCommSplit(void* c, int color, int key, void** split, void* config) { *split = handle(); return SUCCESS; }
int ncclCommGetAsyncError(void* c, int* error) { *error = 0; return SUCCESS; }
int ncclCommCount(void* c, int* n) { *n = told("WORLD_SIZE", 1); return SUCCESS; }
const char* ncclGetErrorString(int error) { return "no error"; }
const char* ncclGetLastError(void* c) { return "no error"; }
static int begun(void) { __atomic_add_fetch(&collectives, 1, __ATOMIC_SEQ_CST); return SUCCESS; }
int ncclAllReduce(void) { return begun(); }
int ncclBcast(void) { return begun(); }
int ncclReduce(void) { return begun(); }
int ncclReduceScatter(void) { return begun(); }
// The other ranks say what this one says.
static void say(const void* from, void* to, size_t n, int type, uint64_t times) {
  static const char width[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  size_t nbytes = n * width[type];
  if (nbytes <= REAL_COPY && from != to)
    for (uint64_t rank = 0; rank < times; rank++) copy((char*)to + rank * nbytes, from, nbytes);
}
int ncclBroadcast(const void* from, void* to, size_t n, int type, int root, void* c, void* stream) {
  static const void* said;  // of a list that is gathered, by one call for each rank
  if (from && from != to) said = from;
  say(said ? said : to, to, n, type, 1);
  return begun();
}
int ncclAllGather(const void* from, void* to, size_t n, int type, void* c, void* stream) {
  say(from, to, n, type, told("WORLD_SIZE", 1));
  return begun();
}
