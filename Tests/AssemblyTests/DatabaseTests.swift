import Ledger
import TestSupport
import Testing

@testable import Assembly

@Suite("The database that the settings name")
struct DatabaseTests {
    @Test("A missing database is refused with the command that makes one")
    func missing() throws {
        let folder = try ScratchFolder()
        let settings = Settings(databaseURL: nil, dataFolder: folder.path)
        #expect {
            try Database(settings)
        } throws: { error in
            guard case .refused("no_database", let sentence)? = error as? StartError else {
                return false
            }
            return sentence.hasPrefix("There is no database in \(folder.path)")
                && sentence.contains("deed restore BACKUP") && sentence.hasSuffix("deed serve")
        }
    }

    @Test("A database elsewhere is used as it is, without starting a private one")
    func elsewhere() throws {
        let folder = try ScratchFolder()
        let settings = Settings(databaseURL: "postgresql:///game", dataFolder: folder.path)
        let database = try Database(settings, mayCreate: true)
        #expect(!database.isPrivate)
        #expect(database.url == "postgresql:///game")
    }

    @Test("A process for one task has one connection for each kind of work")
    func modest() throws {
        let database = try Database(
            Settings(databaseURL: "postgresql:///game", dataFolder: "/nonexistent"))
        let settings = database.modestSettings(clock: { fatalError("asked for no time") })
        #expect([settings.committers, settings.readers, settings.lookups] == [1, 1, 1])
    }
}
