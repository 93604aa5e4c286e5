internal import COpenSSL

/// Returns the 32-byte scrypt hash of a password, or `nil` if there is not enough memory. A cost of
/// 15 takes about a tenth of a second and 32 MiB, which makes guessing expensive. Raising the cost
/// by one doubles both.
package func stretched(_ password: [UInt8], salt: [UInt8], cost: Int) -> [UInt8]? {
    guard (1...24).contains(cost) else { return nil }
    let (size, block, lanes): (UInt64, UInt64, UInt64) = (1 << UInt64(cost), 8, 1)
    // scrypt needs 128 bytes for each step of a block, and slightly more overall.
    let memory = 256 * size * block
    var isDone = false
    let bytes = [UInt8](unsafeUninitializedCapacity: 32) { buffer, filled in
        let result = password.withUnsafeBytes { password in
            EVP_PBE_scrypt(
                password.baseAddress?.assumingMemoryBound(to: CChar.self), password.count, salt,
                salt.count, size, block, lanes, memory, buffer.baseAddress, 32)
        }
        isDone = result == 1
        if !isDone { buffer.initialize(repeating: 0) }
        filled = 32
    }
    return isDone ? bytes : nil
}
