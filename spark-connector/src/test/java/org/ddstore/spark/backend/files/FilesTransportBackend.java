// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.files;

import org.ddstore.spark.backend.OpenTransport;
import org.ddstore.spark.backend.RankPlace;
import org.ddstore.spark.backend.TransportBackend;
import org.ddstore.spark.backend.TransportOffer;
import org.ddstore.transport.Availability;

/**
 * A transport that only tests have: reads map the files of other processes of this host. It is
 * added by {@link FilesService} alone; no other class knows it.
 */
public final class FilesTransportBackend implements TransportBackend {
  @Override
  public String name() {
    return "files";
  }

  @Override
  public int order() {
    return 100;
  }

  @Override
  public String summary() {
    return "maps files of this host";
  }

  @Override
  public Availability availability() {
    return Availability.available("files in " + FilesTransport.DIRECTORY);
  }

  @Override
  public TransportOffer offer(RankPlace place, boolean isAuto) {
    return (start, reason) -> {
      FilesTransport files = new FilesTransport(start.network());
      return new OpenTransport(start.network(), files, files, reason, patience -> files.close());
    };
  }
}
