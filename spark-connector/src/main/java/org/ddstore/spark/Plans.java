package org.ddstore.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.ingest.NotUniformException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plan of a load in use. A new attempt has a new one: what a plan has stored, in order to sort
 * it for example, is lost with the executor that holds it, and files may have changed.
 */
final class Plans implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Plans.class);

  private final Supplier<IngestPlan> planner;
  private final List<NotUniformException> learnt = new ArrayList<>();
  private IngestPlan plan;

  Plans(Supplier<IngestPlan> planner) {
    this.planner = planner;
    this.plan = planner.get();
    plan.warnings().forEach(LOG::warn);
  }

  IngestPlan current() {
    return plan;
  }

  IngestPlan forAttempt(int attempt) {
    if (attempt > 1) {
      plan.close();
      plan = planner.get();
      for (NotUniformException found : learnt) {
        plan = plan.with(found);
      }
    }
    return plan;
  }

  /** Runs a job by these plans, and again as long as it finds that a column has another form. */
  <T> T load(Supplier<T> job) {
    while (true) {
      try {
        return job.get();
      } catch (NotUniformException e) {
        LOG.info("{}; loading again with what is known now", e.getMessage());
        learnt.add(e);
        plan = plan.with(e); // shares what the former one has stored
      }
    }
  }

  /** Releases the rows that the plan has stored, also if the thread is interrupted. */
  @Override
  public void close() {
    Interrupts.cleanUp("release of stored rows", () -> plan.close());
  }
}
