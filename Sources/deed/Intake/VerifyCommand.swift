import Assembly
import Commands
import Core
import Crypto
import Evidence
import Glibc
import JSON
import Machine

let verifyCommand = CommandSpec(
    path: ["verify"],
    summary: "Shows what evidence states and whether it is genuine, without a database or network.",
    positionals: [Positional(name: "FILE", help: "a receipt, a signed transaction, …")],
    options: [
        .value("bundle-id", "ID", "the app that the evidence must be for"),
        .extraRoots,
        .value("device-id", "ID", "the vendor identifier or network address of the device"),
        .value("app-version", "VERSION", "the app version that the evidence must name"),
        .value("at", "INSTANT", "the instant of the verification (default: now)"), .json,
    ],
    example: "deed verify receipt.bin --bundle-id com.example.game"
) { invocation throws(CommandEnd) in
    let file = invocation.positional(0) ?? ""
    let examination = try invocation.examination()
    let report = VerifyReport(examination)
    invocation.show(report.json, text: report.text)
    if let refusal = examination.refusal {
        let foreign = refusal.check == .format ? try foreignKind(of: readEvidence(file)) : nil
        throw .refused(
            code: refusal.code,
            sentence: foreign.map { "\(file) is \($0), not evidence. \(evidenceKinds)" }
                ?? (examination.kind == nil
                    ? "\(refusal.description) \(evidenceKinds)" : refusal.description))
    }
}

extension Invocation {
    /// Examines the file. Reads at most as many bytes as evidence can have.
    func examination() throws(CommandEnd) -> Examination {
        var question = EvidenceQuestion(now: try instant("at") ?? systemClock())
        question.bundleID = try id("bundle-id")
        question.appVersion = self["app-version"]
        if let text = self["device-id"] {
            guard let device = DeviceID(text) else {
                throw usage("--device-id must be a vendor identifier or a network address")
            }
            question.device = device
        }
        let roots = try extraRoots()
        let evidence = try readEvidence(positional(0) ?? "")
        return Verifier(extraRoots: roots).examine(evidence, question)
    }
}

/// Returns the first `limit` bytes of a file.
func readStart(of path: String, limit: Int) throws(CommandEnd) -> [UInt8] {
    guard let file = fopen(path, "r") else {
        throw .fault("\(path) cannot be opened: \(systemReason)")
    }
    defer { fclose(file) }
    var content: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while content.count < limit {
        let count = fread(&piece, 1, min(piece.count, limit - content.count), file)
        if count == 0 { break }
        content += piece[..<count]
    }
    if ferror(file) != 0 {
        throw .fault("\(path) cannot be read: \(systemReason)")
    }
    return content
}

/// Reads the certificates in a folder, in PEM or DER format, in order of file name.
func readRoots(in folder: String) throws(CommandEnd) -> [Certificate] {
    guard let listing = opendir(folder) else {
        throw .fault("\(folder) cannot be opened: \(systemReason)")
    }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if [".pem", ".crt", ".cer", ".der"].contains(where: name.hasSuffix) { names.append(name) }
    }
    var roots: [Certificate] = []
    for name in names.sorted() {
        let path = "\(folder)/\(name)"
        let bytes = try readStart(of: path, limit: 1 << 20)
        do throws(ChainRefusal) {
            roots += try Certificate.read(bytes)
        } catch {
            throw .fault("\(path) holds no certificate in PEM or DER")
        }
    }
    // Without this check, Deed would later refuse every purchase and give no hint of the cause.
    if roots.isEmpty {
        throw .fault(
            "\(folder) holds no certificate; put the roots there as .pem, .crt, .cer or .der")
    }
    return roots
}
