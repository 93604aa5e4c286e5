internal import COpenSSL

/// Bytes that nobody can foretell, fit for keys and identifiers.
package func randomBytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        precondition(
            RAND_bytes(buffer.baseAddress, Int32(count)) == 1,
            "the operating system gave no random bytes")
        filled = count
    }
}
