// SPDX-License-Identifier: Apache-2.0
/** A variational autoencoder of images of digits, trained by all ranks with checkpoints. */
@Internal
package org.ddstore.examples.vae;

import org.ddstore.types.Internal;
