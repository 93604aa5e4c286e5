import Minting
import Service
import TestSupport

/// A service that can record sandbox purchases, and the program on the same database.
class SandboxShop {
    let service: TestService
    let deed: Installation
    let folder: EvidenceFolder
    let store = MintedStore(environment: "Sandbox")
    var database: ScratchDatabase { service.database }

    init() throws {
        service = try TestService()
        deed = try Installation(service.database)
        folder = try EvidenceFolder()
        try deed.sell(in: folder)
        try service.keys.reload()
        try service.apps.reload()
    }
}
