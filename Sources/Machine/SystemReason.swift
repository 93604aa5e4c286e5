import Glibc

/// Why the last call to the system failed, in the system's words.
package var systemReason: String { String(cString: strerror(errno)) }
