import Service
import Wording

extension V1 {
    var projectRoutes: [Route] {
        let stores = submissions.intake.adapters.map(\.profile)
        return CatalogRoutes(catalogs: useCases.catalogs).routes
            + SettingsRoutes(
                projects: useCases.projects, apps: useCases.apps, ring: submissions.apps,
                stores: stores
            ).routes
            + StatusRoutes(
                needs: Needs(
                    useCases.ports, stores, isForTests: operations.testClock != nil),
                words: CommandWords(stores)
            ).routes
            + ReconciliationRoutes(reconciliations: useCases.reconciliations).routes
    }
}
