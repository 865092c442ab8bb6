"""Query budgets: learners with one exact oracle and one ledger, from the earlier work and below the paper's count."""
