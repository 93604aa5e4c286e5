import Commands
import Core
import Evidence
import Foundation

/// Reads evidence from a file and removes the byte order mark and the line breaks that editors and shells add. Binary
/// evidence stays unchanged.
func readEvidence(_ path: String) throws(CommandEnd) -> [UInt8] {
    // Reads up to twice the limit, because line breaks are not part of the evidence.
    let bytes = try readStart(of: path, limit: 2 * RawEvidence.byteLimit)
    let isBinary = bytes.count > 1 && bytes[0] == 0x30 && bytes[1] >= 0x80
    return isBinary ? bytes : bare(bytes)
}

private func bare(_ bytes: [UInt8]) -> [UInt8] {
    var text = withoutMark(bytes)
    text.removeAll { $0 == 0x0A || $0 == 0x0D }
    return text
}

/// Returns the text in UTF-8 without a byte order mark. Some shells always write UTF-16.
func withoutMark(_ bytes: [UInt8]) -> [UInt8] {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
        return String(bytes: bytes, encoding: .utf16).map { Array($0.utf8) } ?? bytes
    }
    return bytes
}
