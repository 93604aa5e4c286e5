import Foundation

/// The program `qrencode`, an independent generator of QR codes.
package enum QRProgram {
    package struct Missing: Error {}

    /// Returns the modules of a text's QR code, one row per line, with `#` for a dark module.
    package static func rows(_ text: String) throws -> [String] {
        let folder = try ScratchFolder()
        let process = try ChildProcess(
            "/usr/bin/qrencode",
            ["-8", "-l", "M", "-m", "0", "-t", "ASCII", "-o", folder.file("code"), text],
            environment: [:], output: folder.file("out"), errors: folder.file("err"))
        guard process.wait(milliseconds: 60_000) == 0 else { throw Missing() }
        return try String(contentsOfFile: folder.file("code"), encoding: .utf8)
            .split(separator: "\n").map { line in
                // The program prints each module as two characters.
                let letters = Array(line)
                return String(stride(from: 0, to: letters.count, by: 2).map { letters[$0] })
            }
    }
}
