// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import static java.nio.charset.StandardCharsets.US_ASCII;

import ai.djl.Device;
import ai.djl.engine.Engine;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.checkpoint.Checkpoint;
import org.ddstore.checkpoint.Checkpoints;
import org.ddstore.collective.Communicator;
import org.ddstore.examples.EpochLines;
import org.ddstore.loader.EpochsLoop;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.CoverageReceipt;
import org.ddstore.sampling.RowSubset;
import org.ddstore.sampling.Sampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.RankTask;
import org.ddstore.types.DType;

/**
 * The training of a variational autoencoder by all ranks, with checkpoints: after the loss of an
 * executor, the next attempt continues from the last one. At equal seed and global batch, every
 * number of ranks gives the same losses but for the rounding of float.
 */
final class VaeTraining implements RankTask<VaeResult> {
  private static final long serialVersionUID = 1L;
  private static final String STREAM = "vae";
  private static final int DRAWN = 20;
  private static final int SAMPLES = 60;

  private final VaeOptions options;
  private final EpochLines.Reporter lines;
  private final int[] checksums;

  private VaeTraining(VaeOptions options, EpochLines.Reporter lines, int... checksums) {
    this.options = options;
    this.lines = lines;
    this.checksums = checksums;
  }

  /** Loads the images, trains on them and returns the result of each rank. Blocks. */
  static List<VaeResult> train(
      TrainingImages images, int ranks, VaeOptions options, EpochLines.Reporter lines) {
    return DDStores.from(images.frame())
        .field(TrainingImages.IMAGE, DType.UINT8, Layer.SIDE, Layer.SIDE)
        .ranks(ranks)
        .run(new VaeTraining(options, lines, images.checksums()));
  }

  /** Returns the device that computes on a rank. Nothing else chooses one. */
  private static Device device(RankContext rank) {
    Device first = Engine.getInstance().defaultDevice();
    return first.isGpu() ? Device.gpu(rank.device().orElse(0)) : first;
  }

  @Override
  public VaeResult run(RankContext rank) {
    VaeState state = new VaeState(options.seed());
    Optional<Checkpoints> checkpoints =
        options.checkpoints().isEmpty()
            ? Optional.empty()
            : Optional.of(rank.checkpoints(options.checkpoints()));
    Optional<Checkpoint> saved = checkpoints.flatMap(Checkpoints::latest);
    saved.ifPresent(
        checkpoint -> {
          checkpoint.load(STREAM, state::read);
          reportResume(rank, checkpoint, state.epochs());
        });
    RowSubset tests = rank.columns().where(TrainingImages.TEST);
    RowSubset trained = rank.columns().whereNot(TrainingImages.TEST);
    ImageCheck check = new ImageCheck(checksums);
    Steps steps = new Steps(rank.communicator(), device(rank), check, options.seed());
    Stopwatch watch = new Stopwatch();
    try (Loader loader = open(rank, Samplers.shuffled(options.seed()), trained);
        Loader testLoader = open(rank, Samplers.sequential(), tests)) {
      EpochsLoop epochs = loader.epochs(options.epochs(), saved);
      epochs.afterEpoch(
          epoch -> {
            watch.stop();
            endEpoch(rank.communicator(), loader, testLoader, steps, state);
            reportEpoch(rank, state.epochs(), state.epochs().size());
            checkpoints.ifPresent(to -> to.save(loader.state(), STREAM, state::write));
          });
      for (LoadedBatch batch : epochs) {
        watch.start();
        steps.train(batch, state);
        if (state.steps() % options.checkpointEvery() == 0) {
          checkpoints.ifPresent(to -> to.save(loader.state(), STREAM, state::write));
        }
      }
      return new VaeResult(
          rank.rank(),
          state.epochs(),
          watch.perSecond(state.images()),
          loader.utilisation(rank.communicator()),
          rank.attempt(),
          saved.map(VaeTraining::position).orElse(""),
          checksums(rank.communicator(), state.parameters()),
          rank.rank() == 0 ? draw(rank, tests, steps, state.parameters()) : Pictures.NONE);
    }
  }

  private void reportEpoch(RankContext rank, List<TrainedEpoch> epochs, int number) {
    lines.epoch(rank.rank(), number, epochs.get(number - 1).text());
  }

  /**
   * Reports where the training continues. The epochs before are those of a former run, which has
   * printed them, but for those that a former attempt may not have reported.
   */
  private void reportResume(RankContext rank, Checkpoint saved, List<TrainedEpoch> epochs) {
    boolean isComplete = epochs.size() >= options.epochs();
    for (int epoch = 1; epoch <= epochs.size() && (isComplete || rank.attempt() > 1); epoch++) {
      reportEpoch(rank, epochs, epoch);
    }
    if (!isComplete) {
      String attempt = rank.attempt() > 1 ? ", in attempt " + rank.attempt() : "";
      lines.note(rank.rank(), epochs.size(), "Resumed at " + position(saved) + attempt);
    }
  }

  private Loader open(RankContext rank, Sampler sampler, RowSubset rows) {
    return rank.loader(
        sampler.globalBatchSize(options.globalBatch()).everySample().within(rows),
        LoaderOptions.defaults()
            .fields(TrainingImages.IMAGE)
            .cast(TrainingImages.IMAGE, DType.FLOAT32, 1 / 255.0));
  }

  /** Tests the parameters after an epoch, and adds its result to the state. Collective. */
  private static void endEpoch(
      Communicator ranks, Loader loader, Loader testLoader, Steps steps, VaeState state) {
    BatchSums tested = steps.test(testLoader, state.parameters());
    CoverageReceipt receipt = loader.receipt(ranks);
    CoverageReceipt testReceipt = testLoader.receipt(ranks);
    state.endEpoch(
        new TrainedEpoch(
            state.epoch().meanLoss(),
            tested.meanLoss(),
            (long) (state.epoch().mismatches() + tested.mismatches()),
            receipt.isExact() && testReceipt.isExact(),
            receipt.toString(),
            testReceipt.toString()));
  }

  private static String position(Checkpoint checkpoint) {
    return "epoch %d, batch %d"
        .formatted(checkpoint.state().epoch() + 1, checkpoint.state().batch());
  }

  private static List<String> checksums(Communicator ranks, Parameters parameters) {
    byte[] own = parameters.checksum().getBytes(US_ASCII);
    return Stream.of(ranks.allGather(own)).map(hex -> new String(hex, US_ASCII)).toList();
  }

  private static Pictures draw(
      RankContext rank, RowSubset tests, Steps steps, Parameters parameters) {
    long[] rows = LongStream.range(0, Math.min(DRAWN, tests.size())).map(tests::row).toArray();
    try (Reader reader = rank.rows().reader(TrainingImages.IMAGE);
        Batch batch = reader.getBatch(rows)) {
      return steps.draw(batch.field(TrainingImages.IMAGE).toByteArray(), SAMPLES, parameters);
    }
  }
}
