import Commands
import Core
import Foundation
import Service

/// The file for a key that the set-up creates.
struct KeyFile {
    let folder: String
    let role: Role

    var path: String { "\(folder)/\(role.rawValue)" }

    /// Returns the stored key, or `nil` if the file or its folder is missing.
    func text() throws(CommandEnd) -> String? {
        fileExists(folder) ? try HeldFolder(folder).line(of: role.rawValue) : nil
    }

    /// Creates the key. Writes its text to disk before the key becomes valid, so that no valid key is lost if the
    /// process is killed.
    func make(_ invocation: Invocation) throws(CommandEnd) {
        let folder = try openFolder()
        let draft = "\(role.rawValue).made"
        let project = try invocation.project()
        let sender = try invocation.sender()
        try invocation.withUseCases(in: project) { useCases throws(CommandEnd) in
            let text: String
            if let kept = try folder.line(of: draft), kept.hasPrefix("deed_\(role.rawValue)_") {
                text = kept
            } else {
                text = useCases.projects.newKeyText(role)
                try folder.replace(draft, with: text + "\n")
            }
            let state = try obey(useCases.ledger.existing(project))
            if useCases.projects.key(text, in: state) == nil {
                _ = try useCases.fulfil(
                    useCases.projects.creatingKey(
                        role, text: text, name: Setup.keyName, of: project, by: sender))
            }
            try folder.rename(draft, to: role.rawValue)
        }
    }

    private func openFolder() throws(CommandEnd) -> HeldFolder {
        let parent = URL(fileURLWithPath: folder).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(
                atPath: parent, withIntermediateDirectories: true)
        } catch {
            throw .fault("\(parent) cannot be created: \(error.localizedDescription).")
        }
        return try HeldFolder(making: folder)
    }
}
