import API
import Assembly
import CatalogFile
import Commands
import Core
import Foundation
import JSON
import Ledger
import Service

let catalogCommands = [
    showCatalogCommand, checkCatalogCommand, compareCatalogCommand, applyCatalogCommand,
]

private let file = Positional(name: "FILE", help: "the catalog; - is standard input")
private let proposalOptions: [Option] =
    [
        .value("if-version", "VERSION", "only if the current catalog has this version"),
        .project,
    ] + Option.database

private let showCatalogCommand = CommandSpec(
    path: ["catalog", "show"], summary: "Prints a project's catalog as a file to edit.",
    options: [.project] + Option.database, onlyReads: true,
    example: "deed catalog show > catalog.json"
) { invocation throws(CommandEnd) in
    let project = try invocation.project()
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let answer = try obey(useCases.catalogs.catalog(of: project))
        invocation.show(answer.json, text: CatalogFile.json(answer.catalog).prettyText)
    }
}

private let checkCatalogCommand = CommandSpec(
    path: ["catalog", "check"], summary: "Lists all errors in a catalog file.",
    positionals: [file],
    options: [.flag("strict", "exit with 1 even if there are only warnings"), .json],
    example: "deed catalog check catalog.json"
) { invocation throws(CommandEnd) in
    let contents = try invocation.contents(of: try invocation.catalogBytes(), after: Catalog())
    invocation.show(
        ["valid": true, "errors": [], "warnings": .problems(contents.warnings)],
        text: contents.summary)
    if invocation.has("strict"), !contents.warnings.isEmpty {
        let count = contents.warnings.count
        throw .refused(
            code: "catalog_warnings",
            sentence: "The catalog has \(count == 1 ? "one warning" : "\(count) warnings"), and "
                + "--strict allows none; correct the catalog, or leave --strict out.")
    }
}

private let compareCatalogCommand = CommandSpec(
    path: ["catalog", "diff"],
    summary: "Shows what a catalog file would change, and who would gain or lose access now.",
    positionals: [file], options: proposalOptions, onlyReads: true,
    example: "deed catalog diff catalog.json"
) { invocation throws(CommandEnd) in
    let bytes = try invocation.catalogBytes()
    let basis = try invocation.basis()
    let project = try invocation.project()
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let old = try obey(useCases.catalogs.catalog(of: project))
        let contents = try invocation.contents(of: bytes, after: old.catalog)
        let proposal = CatalogProposal(contents.catalog, basis: basis)
        let preview = try useCases.catalogs.preview(proposal, of: project)
        invocation.show(
            preview.step.json(preview.counts, warnings: contents.warnings),
            text: preview.text(warnings: contents.warnings))
    }
}

private let applyCatalogCommand = CommandSpec(
    path: ["catalog", "apply"],
    summary: "Shows what a catalog file changes, and replaces the project's catalog with it.",
    positionals: [file],
    options: [
        .flag("dry-run", "only show the changes, as deed catalog diff does"), .idempotencyKey,
    ]
        + proposalOptions,
    example: "deed catalog apply catalog.json"
) { invocation throws(CommandEnd) in
    let bytes = try invocation.catalogBytes()
    let basis = try invocation.basis()
    let project = try invocation.project()
    let sender = try invocation.sender()
    try invocation.withLive { live throws(CommandEnd) in
        let old = try obey(live.useCases.catalogs.catalog(of: project))
        let contents = try invocation.contents(of: bytes, after: old.catalog)
        let proposal = CatalogProposal(contents.catalog, basis: basis)
        var shown = try live.useCases.catalogs.preview(proposal, of: project)
        if !invocation.isJSON { printText(shown.text(warnings: contents.warnings)) }
        if !invocation.has("dry-run") {
            // Applies exactly the changes that were shown, or none at all.
            let approved = CatalogProposal(contents.catalog, basis: shown.step.version)
            let step = try live.useCases.fulfil(
                live.useCases.catalogs.applying(approved, to: project, by: sender))
            let isRepetition = step.isApplied && step.version != shown.step.version + 1
            shown =
                try isRepetition
                ? live.useCases.catalogs.preview(step, of: project) : shown.applied(step)
            if !invocation.isJSON { printText(step.verdict(isRepetition: isRepetition)) }
            try live.ledger.projectAnew()
        }
        if invocation.isJSON {
            let json = shown.step.json(shown.counts, warnings: contents.warnings)
            printText(json.text)
        }
    }
}

extension Invocation {
    /// Returns the content of the file in the first argument.
    fileprivate func catalogBytes() throws(CommandEnd) -> [UInt8] {
        let name = positional(0) ?? ""
        do {
            let handle = try name == "-" ? .standardInput : FileHandle(forReadingFrom: .file(name))
            return withoutMark([UInt8](try handle.readToEnd() ?? Data()))
        } catch {
            throw usage("\(name) cannot be read; give the path of a file, or - for standard input")
        }
    }

    /// Reads a catalog file that replaces another catalog. Prints all problems in it.
    fileprivate func contents(
        of bytes: [UInt8], after old: Catalog
    ) throws(CommandEnd) -> CatalogFile.Contents {
        do throws(InvalidCatalog) {
            return try CatalogFile.read(bytes: bytes, after: old)
        } catch {
            show(
                ["valid": false, "errors": .problems(error.problems), "warnings": []],
                text: error.description)
            let count = error.problems.count
            throw .refused(
                code: "catalog_invalid",
                sentence: count == 1
                    ? "The catalog has one error; correct it and try again."
                    : "The catalog has \(count) errors; correct them and try again.")
        }
    }

    fileprivate func basis() throws(CommandEnd) -> Int64? {
        try integer("if-version", in: 0...Int.max).map { Int64($0) }
    }
}

extension URL {
    fileprivate static func file(_ path: String) -> URL { URL(fileURLWithPath: path) }
}

extension Ledger {
    /// Updates the derived rows, which other programs read, so that they are current when the command ends.
    fileprivate func projectAnew() throws(CommandEnd) {
        let progress = Progress()
        defer { progress.end() }
        var faults: [Fault] = []
        _ = try ask(
            Reprojection(self, .live).project(
                faulted: { faults.append($1) },
                progress: { progress.show("projected \($0) customers") }))
        if let fault = faults.first { throw CommandEnd(fault) }
    }
}

extension Catalogs {
    fileprivate func preview(
        _ proposal: CatalogProposal, of project: ProjectID
    ) throws(CommandEnd) -> CatalogPreview {
        let step = try obey(compare(proposal, of: project))
        return try preview(step, of: project)
    }

    /// Returns the step's preview, with the customers who gain or lose access. Shows progress while counting.
    fileprivate func preview(
        _ step: CatalogStep, of project: ProjectID
    ) throws(CommandEnd) -> CatalogPreview {
        let progress = Progress()
        defer { progress.end() }
        let counts = try obey(
            accessCounts(of: step, in: project) { progress.show("looked at \($0) customers") })
        return CatalogPreview(step: step, counts: counts)
    }
}
