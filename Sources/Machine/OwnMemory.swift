import CProcess
import Glibc

/// Keeps this process's memory, which holds keys, out of dumps and away from other processes of the
/// same user. Root can still read it. The system resets this when the user changes.
package func keepMemoryToOneself() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(Int32(RLIMIT_CORE.rawValue), &none)
    _ = process_keep_memory()
}
