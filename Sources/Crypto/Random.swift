import Glibc

/// Unpredictable bytes from the operating system, for keys and identifiers. A generator inside the
/// process would take ten times as long.
package func randomBytes(_ count: Int) -> [UInt8] {
    /// The system's limit for a single call.
    let portion = 256
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        while filled < count {
            let size = min(portion, count - filled)
            let status = getentropy(buffer.baseAddress?.advanced(by: filled), size)
            precondition(status == 0, "the operating system gave no random bytes")
            filled += size
        }
    }
}
