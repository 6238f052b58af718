// The parts of Apache ECharts that the page uses; scripts/charts makes echarts.js of it.
import { use, init } from 'echarts/core';
import { LineChart, CustomChart } from 'echarts/charts';
import { GridComponent, TooltipComponent, LegendComponent, DataZoomInsideComponent } from 'echarts/components';
import { CanvasRenderer } from 'echarts/renderers';
use([LineChart, CustomChart, GridComponent, TooltipComponent, LegendComponent, DataZoomInsideComponent, CanvasRenderer]);
export { init };
