// SPDX-License-Identifier: Apache-2.0
/** Classes of cells: what the driver and the executors load instead of the compiled bytes. */
@Internal
package org.ddstore.notebook.classes;

import org.ddstore.types.Internal;
