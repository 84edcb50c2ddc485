// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.ddstore.collective.Communicator;
import org.ddstore.nativeio.NativeLibrary;
import org.ddstore.transport.Availability;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.PermanentFailure;

/** Entry point for reads by MPI; users' programs use {@code org.ddstore.mpirun.MpiRun}. */
public final class Mpi {
  /** Exit status of a JVM that is ended because an MPI call does not return. */
  public static final int HUNG_STATUS = 86;

  private static final String NOT_BUILT =
      "this jar was built without mpi.jar: run native/mpi/build-mpi-jar and build again";
  private static final String NO_LIBRARY =
      "its library libmpi_java.so is not on java.library.path: apt-get install openmpi-bin"
          + " libopenmpi-dev, or set its directory by spark.executor.extraLibraryPath";

  /** The exception of a process without MPI, which another attempt does not change. */
  private static final class UnavailableException extends DDStoreException
      implements PermanentFailure {
    private static final long serialVersionUID = 1L;

    UnavailableException(String message) {
      super(message);
    }
  }

  private Mpi() {}

  /** Returns whether this process can use MPI, without starting it. Throws nothing. */
  public static Availability availability() {
    if (!NativeLibrary.isLoaded()) {
      return Availability.unavailable(
          "needs libddstore.so: " + NativeLibrary.problem().orElse("not loaded"));
    }
    try {
      Optional<MpiBinding> binding = binding();
      if (binding.isEmpty()) {
        return Availability.unavailable(NOT_BUILT);
      }
      String version = binding.get().libraryVersion();
      return OpenMpiVersion.problem(version)
          .map(Availability::unavailable)
          .orElseGet(() -> Availability.available(OpenMpiVersion.shortName(version)));
    } catch (ServiceConfigurationError e) { // classes of two different builds on the class path
      return Availability.unavailable("%s (%s)".formatted(NOT_BUILT, e.getMessage()));
    } catch (NoClassDefFoundError e) {
      return Availability.unavailable(missing(e));
    } catch (UnsatisfiedLinkError e) {
      return Availability.unavailable("%s (%s)".formatted(NO_LIBRARY, e.getMessage()));
    } catch (RuntimeException e) {
      return Availability.unavailable(e.toString());
    }
  }

  /** Returns the reason for a missing class, which has another message the next time. */
  private static String missing(NoClassDefFoundError e) {
    return String.valueOf(e.getMessage()).startsWith("Could not initialize class")
        ? NO_LIBRARY
        : "mpi.jar is not on the class path: add it to spark.jars";
  }

  private static Optional<MpiBinding> binding() {
    return ServiceLoader.load(MpiBinding.class, Mpi.class.getClassLoader()).findFirst();
  }

  /**
   * Joins ranks, each in its own JVM, to one MPI world, or uses the world that these JVMs are
   * already in, and returns the transport of this rank's group. Collective over all of {@code
   * ranks}; an error on one rank is raised on all.
   *
   * @param ranks communicator for exchanging the start data of MPI; used only during the call
   * @param color color of the group; ranks of one color read each other's rows
   * @return transport that the caller closes
   * @throws org.ddstore.types.FrozenMembershipException if only some of these JVMs are in a world,
   *     or their world has lost a rank
   * @throws DDStoreException if MPI is not available on a rank, or two ranks share a JVM
   */
  public static MpiTransport join(Communicator ranks, int color, MpiOptions options) {
    ranks.exchange(
        "MPI availability",
        () -> {
          checkAvailable();
          return new byte[0];
        });
    return binding().orElseThrow().join(ranks, color, options);
  }

  private static void checkAvailable() {
    Availability here = availability();
    if (!here.isAvailable()) {
      throw new UnavailableException("MPI is not available: " + here.detail());
    }
  }

  /**
   * Starts MPI in a process that mpirun has started; see {@link MpiBinding#launch}.
   *
   * @param environment environment of this process, in which mpirun describes the job
   * @throws DDStoreException if mpirun has not started the process, or MPI is not available
   */
  public static LaunchedRanks launch(Map<String, String> environment, MpiOptions options) {
    Launch launch = Launch.parse(environment);
    checkAvailable();
    return binding().orElseThrow().launch(launch, options);
  }
}
