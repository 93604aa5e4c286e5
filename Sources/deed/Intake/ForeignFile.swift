import Foundation
import JSON

/// A description of the evidence that stores provide.
let evidenceKinds =
    "Evidence is an app's receipt (the file, or its base64), a signed transaction (three parts joined by "
    + "dots), a notification with signedPayload, or a reply from verifyReceipt."

/// Returns the kind of a file that is not evidence, such as "a PNG picture", or `nil` if unknown.
func foreignKind(of bytes: [UInt8]) -> String? {
    if bytes.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) { return "empty" }
    if let kind = beginnings.first(where: { bytes.starts(with: $0.bytes) }) { return kind.name }
    let text = String(decoding: bytes.prefix(64), as: UTF8.self)
    if let pem = text.firstMatch(of: /-----BEGIN ([A-Z0-9 ]+)-----/) {
        return pem.1.hasSuffix("PRIVATE KEY")
            ? "a private key in PEM" : "a PEM file with a \(pem.1.lowercased())"
    }
    if bytes.first == UInt8(ascii: "{"), let members = (try? JSON.read(bytes))?.object?.members {
        let names = members.prefix(5).map { "\"\($0.name.prefix(40))\"" }
        return names.isEmpty
            ? "an empty JSON object"
            : "a JSON object with \(names.joined(separator: ", "))\(members.count > 5 ? " and more" : "")"
    }
    if bytes.first == UInt8(ascii: "["), (try? JSON.read(bytes)) != nil { return "a JSON array" }
    let isText = !bytes.contains { $0 < 0x20 && !(0x09...0x0D).contains($0) }
    let words = text.split(separator: " ")
    let hasSpaces = words.count > 1 && !text.hasPrefix("{") && words.allSatisfy { $0.count < 30 }
    return isText && hasSpaces ? "a text" : nil
}

private let beginnings: [(bytes: [UInt8], name: String)] = [
    ([0x89, 0x50, 0x4E, 0x47], "a PNG picture"), ([0xFF, 0xD8, 0xFF], "a JPEG picture"),
    (Array("%PDF-".utf8), "a PDF"), ([0x50, 0x4B, 0x03, 0x04], "a ZIP archive"),
    ([0x1F, 0x8B], "a gzip archive"), ([0x7F, 0x45, 0x4C, 0x46], "a program"),
    (Array("bplist".utf8), "a binary property list"), (Array("<?xml".utf8), "XML"),
    (Array("<!DOCTYPE".utf8), "a web page"), (Array("<html".utf8), "a web page"),
    (Array("PGDMP".utf8), "a dump of PostgreSQL"), (Array("SQLite format 3".utf8), "a database"),
]
