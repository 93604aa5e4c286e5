import Service

extension V1 {
    var projectRoutes: [Route] {
        CatalogRoutes(catalogs: useCases.catalogs).routes
            + SettingsRoutes(
                projects: useCases.projects, apps: useCases.apps, ring: submissions.apps,
                stores: submissions.intake.adapters.map(\.profile)
            ).routes
            + StatusRoutes(
                needs: Needs(
                    useCases.ports, submissions.intake.adapters.map(\.profile),
                    isForTests: operations.testClock != nil)
            ).routes
            + ReconciliationRoutes(reconciliations: useCases.reconciliations).routes
    }
}
