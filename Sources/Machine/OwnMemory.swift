import CProcess
import Glibc

/// Keeps this process's memory, which contains keys, out of core dumps and hidden from other processes of the
/// same user. Root can still read the memory. The system resets this setting when the process changes its user.
package func keepMemoryToOneself() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(Int32(RLIMIT_CORE.rawValue), &none)
    _ = process_keep_memory()
}
