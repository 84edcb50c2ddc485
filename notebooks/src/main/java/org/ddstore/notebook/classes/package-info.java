// SPDX-License-Identifier: Apache-2.0
/** Classes of cells, in the forms that the driver and the executors load. */
@Internal
package org.ddstore.notebook.classes;

import org.ddstore.types.Internal;
