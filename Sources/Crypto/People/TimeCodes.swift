internal import COpenSSL

/// Returns the code that a secret generates for a time step, as in RFC 6238. It uses SHA-1, because
/// authenticator apps support that.
package func timeCode(of step: Int64, _ secret: [UInt8], digits: Int = 6) -> String {
    let message = (0..<8).reversed().map { UInt8(truncatingIfNeeded: step >> ($0 * 8)) }
    var code = [UInt8](repeating: 0, count: 20)
    var count: UInt32 = 0
    let done = HMAC(
        EVP_sha1(), secret, Int32(clamping: secret.count), message, message.count, &code, &count)
    guard done != nil, count == 20 else { preconditionFailure("OpenSSL computes no HMAC") }
    let start = Int(code[19] & 15)
    let number = code[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
    var text: [UInt8] = []
    var rest = number
    for _ in 0..<digits {
        text.append(UInt8(ascii: "0") + UInt8(rest % 10))
        rest /= 10
    }
    return String(decoding: text.reversed(), as: UTF8.self)
}
